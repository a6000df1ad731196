//! Functions over objects. Members come in the order of their names. No function changes its
//! input. Null, missing, `[]` and `{}` give null unless said.

use crate::registry::functions;

functions! {
    erase, items, keys, obj_to_kvpair_array, object, object_concat, object_construct, object_pick,
    object_size, values, zip,
}
