//! MQTT 3.1.1 and 5 packets: bytes in, packets out, no IO
