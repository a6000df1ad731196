//! Values, batches of columns, casts and text forms; knows no IO and no clock
