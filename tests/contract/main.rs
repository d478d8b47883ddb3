//! One suite for every store: what the port promises, and nothing that only one adapter does.
//!
//! Each function of the modules below is a promise; it runs against each [`subject`]. A new adapter is
//! done when it passes. Begin at [`promises`].
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that meets something unforeseen fails"
)]

#[path = "../common/mod.rs"]
mod common;

mod foreign;
mod heads;
mod mongo;
mod races;
mod rows;
mod subject;
mod values;
mod writes;

/// Makes one module a store, with one test a promise.
macro_rules! promises {
    ($($store:ident: $subject:expr;)+ => $promises:tt) => {
        $(mod $store {
            promises!(@tests $subject, $promises);
        })+
    };
    (@tests $subject:expr, { $($module:ident: $($promise:ident),+;)+ }) => {
        $($(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $promise() {
                let subject = $subject;
                crate::$module::$promise(subject.as_ref()).await;
            }
        )+)+
    };
}

promises! {
    memory: crate::subject::memory();
    sqlite: crate::subject::sqlite();
    mongodb: crate::mongo::subject();
    calm: crate::subject::calm();
    => {
        writes:
            a_store_says_what_it_is,
            getting_ready_twice_is_harmless,
            a_create_makes_the_document_once,
            a_create_never_changes_what_is_there,
            an_id_of_another_post_is_a_conflict,
            a_slug_is_live_once_in_a_language,
            what_is_not_live_leaves_the_slug_free,
            an_update_that_would_make_a_slug_live_twice_is_a_conflict,
            an_update_needs_the_version_and_the_identity,
            an_update_sets_and_unsets_and_nothing_else,
            an_update_sent_again_matches_nothing,
            a_late_update_matches_nothing,
            a_field_of_somebody_else_survives,
            a_batch_tells_each_statement_by_itself,
            a_full_batch_goes_in,
            a_batch_sent_again_changes_nothing,
            what_says_nothing_new_is_not_written;
        heads:
            a_collection_that_is_not_there_is_empty,
            heads_are_all_there_in_order_of_id,
            a_head_says_what_the_document_says,
            heads_are_found_by_id,
            live_heads_are_found_by_slug_and_language,
            documents_are_found_by_id,
            hand_made_documents_make_no_head_fail,
            another_client_sees_a_write_at_once;
        values:
            every_type_comes_back_as_it_went_in,
            text_of_every_script_comes_back_as_it_went_in,
            slugs_are_compared_byte_by_byte,
            a_key_is_stored_as_it_is_or_refused,
            a_document_of_a_mebibyte_goes_in,
            a_document_that_is_too_big_is_refused_for_good;
        rows:
            a_row_is_inserted_once,
            rows_are_found_by_their_fields,
            a_row_is_replaced_by_version,
            rows_are_deleted_and_missing_ones_are_no_error,
            the_sides_are_apart,
            an_attempt_of_an_operation_has_one_row,
            there_is_one_row_without_an_operation_a_source,
            many_rows_are_inserted_and_what_is_there_stays;
        races:
            of_creates_of_one_id_one_wins,
            of_creates_of_one_slug_one_wins,
            of_updates_of_one_version_one_wins,
            of_inserts_of_one_row_one_wins,
            of_replacements_of_one_row_one_wins;
        foreign:
            documents_of_others_are_read_as_they_are,
            a_document_is_removed_only_as_it_was_told,
            a_document_is_put_back_byte_by_byte,
            a_removed_live_document_leaves_its_slug_free,
            fields_that_hold_an_id_are_counted;
    }
}
