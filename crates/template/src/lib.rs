//! Go text/template with the functions that eKuiper rules use
