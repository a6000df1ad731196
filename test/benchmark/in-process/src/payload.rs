//! W1's messages.

/// Message `i`: temperatures from 20.0 to 34.9, of which 139 in 150 are above 21.0.
pub fn json(i: usize) -> String {
    let (temp, speed) = (200 + i * 7 % 150, 100 + i * 7_919 % 900);
    format!(
        "{{\"id\":{},\"device\":\"dev-{:04}\",\"ts\":{},\"temp\":{}.{},\"humidity\":{}.5,\
         \"speed\":{}.{},\"status\":\"{}\",\"line\":{{\"site\":\"a{}\",\"cell\":\"c{:02}\"}}}}",
        1_000_000_000 + i,
        i % 1_000,
        1_760_000_000_000usize + i,
        temp / 10,
        temp % 10,
        30 + i % 60,
        speed / 10,
        speed % 10,
        ["running", "standby", "stopped"][i % 3],
        i % 9,
        i % 100
    )
}
