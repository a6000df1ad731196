//! Embedded MQTT broker; knows no rules
