//! What a path says: stem, date prefix, language suffix and folders.
