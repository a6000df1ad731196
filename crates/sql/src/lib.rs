//! Lexer, parser, AST and printer of the eKuiper SQL dialect
