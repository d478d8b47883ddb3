//! SQLite: the same documents, the same guards, in one file.
