//! What differs between two documents, for people.
