//! Compression and encryption: what goes in comes out, and damage is noticed.

use std::io::Write as _;

use proptest::prelude::*;
use rekuiper_formats::codec::aes::{Aes, CfbWriter, GcmProps, Mode};
use rekuiper_formats::codec::{COMPRESSIONS, Compression, CompressionProps};

const MAX: usize = 1 << 20;

proptest! {
    #[test]
    fn compression_is_undone(
        data in prop::collection::vec(any::<u8>(), 0..4000),
        window in 0..1u64 << 24,
    ) {
        for (name, compression) in COMPRESSIONS {
            prop_assert_eq!(Compression::by_name(name).unwrap(), *compression);
            let mut packed = vec![7];
            let props = CompressionProps { window_size: window };
            compression.compress(&data, props, &mut packed).unwrap();
            let mut out = vec![8];
            compression.decompress(&packed[1..], MAX, &mut out).unwrap();
            prop_assert_eq!(&out[1..], &data[..]);
            let damaged = &packed[1..packed.len() - 1];
            let mut out = Vec::new();
            if compression.decompress(damaged, MAX, &mut out).is_err() {
                prop_assert!(out.is_empty());
            }
        }
    }

    #[test]
    fn encryption_is_undone(data in prop::collection::vec(any::<u8>(), 0..100), size in 2..5usize) {
        let key = vec![3; size * 8];
        let gcm = |iv, aad: &[u8]| Mode::Gcm(GcmProps { iv, aad: aad.to_vec(), tag_size: 0 });
        for mode in [gcm(None, b""), gcm(Some([1; 12]), b""), gcm(None, b"more"), Mode::Cfb] {
            let aes = Aes::new(&key, mode).unwrap();
            let sealed = aes.encrypt(&data).unwrap();
            prop_assert_eq!(aes.decrypt(&sealed).unwrap(), data.clone());
        }
        let mut file = CfbWriter::new(Vec::new(), &key).unwrap();
        for part in data.chunks(7) {
            file.write_all(part).unwrap();
        }
        let aes = Aes::new(&key, Mode::Cfb).unwrap();
        prop_assert_eq!(aes.decrypt(&file.into_inner()).unwrap(), data);
    }
}

#[test]
fn a_bomb_is_refused() {
    for (_, compression) in COMPRESSIONS {
        let mut packed = Vec::new();
        compression.compress(&vec![0; MAX], CompressionProps::default(), &mut packed).unwrap();
        assert!(compression.decompress(&packed, MAX - 1, &mut Vec::new()).is_err());
    }
}

#[test]
fn gcm_layout_and_refusals() {
    let props = GcmProps { iv: Some([9; 12]), ..Default::default() };
    let aes = Aes::new(&[1; 16], Mode::Gcm(props)).unwrap();
    let mut sealed = aes.encrypt(b"hi").unwrap();
    assert_eq!((&sealed[..12], sealed.len()), (&[9; 12][..], 12 + 2 + 16));
    sealed[13] ^= 1;
    assert!(aes.decrypt(&sealed).unwrap_err().to_string().contains("authentication failed"));
    assert!(aes.decrypt(b"short").is_err());
    assert!(
        Aes::new(b"", Mode::Cfb).unwrap_err().to_string().starts_with("AES Key is not defined")
    );
    assert!(Aes::new(&[0; 17], Mode::Cfb).is_err());
    assert!(!format!("{aes:?}").contains("1, 1"));
}
