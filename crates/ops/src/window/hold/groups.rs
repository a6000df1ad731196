//! Groups with running aggregates instead of rows: what windows cost then follows from how many
//! groups there are, not from how many rows.
//!
//! All of a group lies in flat vectors under its number; after an emission they are emptied and
//! kept, so that a steady load needs no new memory.

use rekuiper_plan::physical::AggregatePlan;
use rekuiper_value::Value;

use super::keys::Keys;
use super::table::{Numbered, Table};
use super::{Hold, RunTimes};
use crate::chunk::{Emission, WindowTimes};
use crate::frames::RowExpr;
use crate::window::assign::{Span, Stay};
use crate::{Chunk, Next, OpCx};

/// Memory is given back where this many times fewer groups came than there is room for.
const ROOMY: usize = 8;
/// Room for fewer groups than this is never given back.
const SMALL: usize = 4096;

/// See the module's doc.
pub struct Groups {
    dims: Box<[RowExpr]>,
    keys: Keys,
    table: Table,
    ids: Vec<u32>,
    room: Room,
}

/// Tells when the room that many groups once took should be given back.
#[derive(Default)]
pub struct Room {
    /// Most groups since memory was last given back.
    most: usize,
}

impl Room {
    /// So many groups came this time.
    pub fn is_roomy(&mut self, groups: usize) -> bool {
        self.most = self.most.max(groups);
        let roomy = self.most > SMALL && groups < self.most / ROOMY;
        if roomy {
            self.most = groups;
        }
        roomy
    }
}

impl Groups {
    /// `places`: the columns that later steps read; those that no aggregate makes are of the first
    /// rows.
    pub fn new(plan: AggregatePlan, places: Vec<u16>, width: usize) -> Self {
        let row_when_empty = plan.row_when_empty && plan.dimensions.is_empty();
        Groups {
            dims: RowExpr::list(plan.dimensions),
            keys: Keys::default(),
            table: Table::new(plan.calls, places, width, row_when_empty),
            ids: Vec::new(),
            room: Room::default(),
        }
    }

    /// Takes rows in.
    pub fn take_in(&mut self, chunk: &Chunk<'_>, rows: &[u32], ocx: &mut OpCx<'_, '_>) {
        if rows.is_empty() {
            return;
        }
        if self.table.has_failed() {
            self.table.pass(rows.len());
        } else if let Err(error) = self.try_add(chunk, rows, ocx) {
            self.keys.clear(false);
            self.table.fail(error, rows.len());
        }
    }

    fn try_add(
        &mut self,
        chunk: &Chunk<'_>,
        rows: &[u32],
        ocx: &mut OpCx<'_, '_>,
    ) -> rekuiper_value::Result<()> {
        self.ids.clear();
        self.keys.number(&self.dims, chunk, rows, ocx, &mut self.ids)?;
        let of = Numbered { rows, ids: &self.ids, groups: self.keys.len() };
        self.table.add(chunk, of, ocx)
    }

    /// Hands the groups on, one row each, and forgets them.
    pub fn send(
        &mut self,
        emission: Emission,
        stamp: i64,
        ocx: &mut OpCx<'_, '_>,
        next: &mut Next<'_>,
    ) {
        self.table.send(emission, stamp, ocx, next);
        self.forget();
    }

    /// Empties everything, and gives memory back where far less would do.
    pub fn forget(&mut self) {
        let roomy = self.room.is_roomy(self.keys.len());
        if roomy {
            self.ids = Vec::new();
        }
        self.keys.clear(roomy);
        self.table.clear(roomy);
    }

    /// The results over all rows, for a single group; those over nothing where there was no row.
    pub fn results(&self) -> rekuiper_value::Result<Vec<(u16, Value)>> {
        self.table.results()
    }
}

impl Hold for Groups {
    fn add(
        &mut self,
        chunk: &Chunk<'_>,
        rows: &[u32],
        _times: RunTimes<'_>,
        ocx: &mut OpCx<'_, '_>,
    ) {
        self.take_in(chunk, rows, ocx);
    }

    fn emit(
        &mut self,
        _span: Span,
        times: WindowTimes,
        ocx: &mut OpCx<'_, '_>,
        next: &mut Next<'_>,
    ) {
        let stamp = times.end.unwrap_or(ocx.cx.now_ms);
        self.send(Emission::Set(times), stamp, ocx, next);
    }

    /// Sending has emptied it.
    fn keep(&mut self, _stay: Stay) {}

    fn held(&self) -> usize {
        self.table.rows()
    }

    fn save(&self) -> Value {
        let keys = Value::array(self.keys.all().map(Value::bytes).collect());
        Value::array(std::iter::once(keys).chain(self.table.save()).collect())
    }

    fn load(&mut self, state: &Value) {
        let parts = state.as_array().map(|a| a.as_slice());
        let Some([Value::Array(keys), a, b, c, d]) = parts else { return };
        let table = [a, b, c, d];
        if !self.table.fits(table) {
            return; // of another plan
        }
        self.forget();
        for key in keys.iter() {
            if let Value::Bytes(key) = key {
                self.keys.restore(key);
            }
        }
        self.table.load(self.keys.len(), table);
    }
}
