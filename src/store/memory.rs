//! A strict model of a store, for tests: the oracle of property tests.
