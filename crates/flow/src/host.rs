//! What functions may ask of the process.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rekuiper_functions::Host;
use rekuiper_value::Value;

/// Longest wait that `delay` may cause, milliseconds.
const DELAY_MAX_MS: i64 = 10_000;

/// One for all rules.
pub struct HostServices {
    seed: AtomicU64,
    pub keyed: RwLock<HashMap<String, Value>>,
    pub props: RwLock<HashMap<String, String>>,
}

impl Default for HostServices {
    fn default() -> Self {
        let seed = std::collections::hash_map::RandomState::new().build_hasher().finish();
        HostServices { seed: seed.into(), keyed: RwLock::default(), props: RwLock::default() }
    }
}

impl Host for HostServices {
    fn keyed_state(&self, key: &str) -> Option<Value> {
        self.keyed.read().ok()?.get(key).cloned()
    }

    fn prop(&self, name: &str) -> Option<String> {
        self.props.read().ok()?.get(name).cloned()
    }

    fn random(&self) -> u64 {
        // splitmix64
        let mut z = self.seed.fetch_add(0x9e37_79b9_7f4a_7c15, Relaxed);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn delay(&self, ms: i64) {
        let wait = std::time::Duration::from_millis(ms.clamp(0, DELAY_MAX_MS) as u64);
        rekuiper_rt::task::block(|| std::thread::sleep(wait));
    }
}
