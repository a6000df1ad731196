//! The flags of `kuiperd demo`.

pub const USAGE: &str = "kuiperd demo [--rate N] [--devices N] [--connections N] [--seconds N]

Starts a server with the embedded broker and a simulated fleet, all on 127.0.0.1 and in a
temporary folder; makes a stream and two rules through the REST API; shows what they do.
  --rate N         messages a second of the whole fleet (20000)
  --devices N      devices in the fleet (1000)
  --connections N  MQTT connections they share (100)
  --seconds N      end after so many seconds; without it, Ctrl-C ends the demo";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub rate: u64,
    pub devices: u64,
    pub connections: u64,
    pub seconds: Option<u64>,
}

impl Options {
    /// None asks for help.
    pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
        let mut o = Options { rate: 20_000, devices: 1_000, connections: 100, seconds: None };
        while let Some(arg) = args.next() {
            let flag = arg.trim_start_matches('-');
            let (flag, given) = match flag.split_once('=') {
                Some((flag, value)) => (flag, Some(value.to_owned())),
                None => (flag, None),
            };
            let max = match flag {
                "h" | "help" => return Ok(None),
                "rate" => 2_000_000,
                "devices" => 100_000,
                // two descriptors each, and a process often may have no more than 1,024
                "connections" => 400,
                "seconds" => 1_000_000,
                _ => return Err(format!("demo: flag {arg} is not known\n{USAGE}")),
            };
            let value = given.or_else(|| args.next());
            let value = value.ok_or_else(|| format!("demo: flag {arg} needs a number"))?;
            let number = value.parse().ok().filter(|n| (1..=max).contains(n));
            let number = number.ok_or_else(|| {
                format!("demo: {arg} must be a whole number from 1 to {max}, found {value:?}")
            })?;
            match flag {
                "rate" => o.rate = number,
                "devices" => o.devices = number,
                "connections" => o.connections = number,
                _ => o.seconds = Some(number),
            }
        }
        o.connections = o.connections.min(o.devices);
        Ok(Some(o))
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    fn parse(text: &str) -> Result<Option<Options>, String> {
        Options::parse(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn numbers_are_taken_and_others_refused() {
        let o = parse("--rate 500 -devices=7 --seconds 3").unwrap().unwrap();
        let want = Options { rate: 500, devices: 7, connections: 7, seconds: Some(3) };
        assert_eq!(o, want);
        assert_eq!(parse("--help").unwrap(), None);
        for bad in ["--rate", "--rate 0", "--rate x", "--devices -1", "--what 3"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
