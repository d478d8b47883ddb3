//! The adapter over the `object_store` library: a folder, S3, Google Cloud Storage, Azure Blob Storage.
//!
//! Its own retries are off: `apply` is the one that sends again. Credentials come in as [`Options`] and
//! never go out: what the library says is cleaned of them before it becomes a [`Fault`].

use std::fmt;
use std::fs::File;
use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, ClientOptions, Error, ObjectStore, ObjectStoreExt, PutMode, PutMultipartOptions,
    PutOptions, PutPayload, RetryConfig,
};

use super::part::Reading;
use super::{Objects, PART_BYTES, Put, Tried};
use crate::post::links::Asset;
use crate::store::{Class, Fault};

/// How long one request may take: a part of [`PART_BYTES`] over a slow line.
const REQUEST_TIMEOUT: Duration = Duration::from_mins(2);
/// How long a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A year: what is under a digest never changes.
const CACHE: &str = "public, max-age=31536000, immutable";

/// Credentials, endpoints and other options by the library's names, as the environment has them
/// (`AWS_ACCESS_KEY_ID`, `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_KEY`). Prints itself without them.
#[derive(Clone, Default)]
pub struct Options(Vec<(String, String)>);

impl Options {
    /// The options among environment variables.
    pub fn of<'v>(variables: impl IntoIterator<Item = (&'v String, &'v String)>) -> Self {
        let ours = |name: &str| ["AWS_", "GOOGLE_", "AZURE_"].iter().any(|start| name.starts_with(start));
        let pairs = variables.into_iter().filter(|(name, value)| ours(name) && !value.is_empty());
        Options(pairs.map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect())
    }

    fn known<K: std::str::FromStr>(&self) -> impl Iterator<Item = (K, String)> {
        self.0.iter().filter_map(|(name, value)| Some((name.parse().ok()?, value.clone())))
    }

    /// Values that are nobody's business.
    fn secrets(&self) -> Vec<String> {
        const OPEN: [&str; 7] =
            ["region", "endpoint", "allow_http", "account_name", "container", "bucket", "style"];
        let secret = |name: &str| !OPEN.iter().any(|open| name.contains(open));
        let long = self.0.iter().filter(|(name, value)| secret(name) && value.len() > 3);
        long.map(|(_, value)| value.clone()).collect()
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// An object store behind the port.
pub struct Bucket {
    inner: Arc<dyn ObjectStore>,
    prefix: Path,
    place: String,
    near: bool,
    secrets: Vec<String>,
}

impl Bucket {
    /// A folder, which is made where it is missing. `place` is how a person wrote it.
    pub fn folder(folder: &FilePath, place: &str) -> Result<Self, Fault> {
        let told = |error: &dyn fmt::Display| {
            Fault::new(Class::Permanent, format!("asset store {place}: {error}"))
                .help("is there a folder of this name, and may it be written?")
        };
        std::fs::create_dir_all(folder).map_err(|error| told(&error))?;
        let inner = LocalFileSystem::new_with_prefix(folder).map_err(|error| told(&error))?.with_fsync(true);
        Ok(Bucket {
            inner: Arc::new(inner),
            prefix: Path::default(),
            place: place.to_owned(),
            near: true,
            secrets: Vec::new(),
        })
    }

    /// `s3://bucket/prefix`, `gs://bucket/prefix`, `az://container/prefix`. Nothing is sent.
    pub fn remote(url: &str, options: &Options) -> Result<Self, Fault> {
        // The library takes whatever provider the process has; a second one is not put over the first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = ClientOptions::new().with_timeout(REQUEST_TIMEOUT).with_connect_timeout(CONNECT_TIMEOUT);
        let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
        let inner: Result<Arc<dyn ObjectStore>, Error> = if url.starts_with("gs://") {
            let builder = GoogleCloudStorageBuilder::new().with_client_options(client).with_retry(retry);
            let builder =
                options.known().fold(builder, |builder, (key, value)| builder.with_config(key, value));
            builder.with_url(url).build().map(|store| Arc::new(store) as Arc<dyn ObjectStore>)
        } else if url.starts_with("az://") {
            let builder = MicrosoftAzureBuilder::new().with_client_options(client).with_retry(retry);
            let builder =
                options.known().fold(builder, |builder, (key, value)| builder.with_config(key, value));
            builder.with_url(url).build().map(|store| Arc::new(store) as Arc<dyn ObjectStore>)
        } else {
            let builder = AmazonS3Builder::new().with_client_options(client).with_retry(retry);
            let builder =
                options.known().fold(builder, |builder, (key, value)| builder.with_config(key, value));
            builder.with_url(url).build().map(|store| Arc::new(store) as Arc<dyn ObjectStore>)
        };
        let secrets = options.secrets();
        let clean = |text: String| cleaned(&text, &secrets);
        let inner = inner.map_err(|error| {
            Fault::new(Class::Permanent, format!("asset store {url}: {}", clean(error.to_string())))
                .help("credentials and endpoint come from the environment: see docs/assets.md")
        })?;
        let path =
            url.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, path)| path);
        let prefix = Path::parse(path.trim_matches('/'))
            .map_err(|error| Fault::new(Class::Permanent, format!("asset store {url}: {error}")))?;
        Ok(Bucket { inner, prefix, place: url.to_owned(), near: false, secrets })
    }

    fn at(&self, name: &str) -> Path {
        self.prefix.clone().join(name)
    }

    fn attributes(&self, mime: &str) -> Attributes {
        let mut attributes = Attributes::new();
        if !self.near {
            attributes.insert(Attribute::ContentType, mime.to_owned().into());
            attributes.insert(Attribute::CacheControl, CACHE.into());
            // A browser shows an attachment in a page and never opens it as a document of its own.
            if mime == "image/svg+xml" {
                attributes.insert(Attribute::ContentDisposition, "attachment".into());
            }
        }
        attributes
    }

    fn fault(&self, error: &Error) -> Fault {
        let text = cleaned(&error.to_string(), &self.secrets);
        let message = format!("asset store {}: {text}", self.place);
        match error {
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
                Fault::new(Class::Auth, message)
                    .help("the credentials in the environment may not do this: see docs/assets.md")
            }
            Error::NotFound { .. } => {
                Fault::new(Class::Permanent, message).help("is there a bucket of this name?")
            }
            Error::Generic { .. } if self.near => Fault::new(Class::Permanent, message),
            Error::Generic { .. } if is_refusal(&text) => Fault::new(Class::Permanent, message),
            Error::Generic { .. }
            | Error::JoinError { .. }
            | Error::AlreadyExists { .. }
            | Error::Precondition { .. } => Fault::new(Class::Unknown, message),
            _ => Fault::new(Class::Permanent, message),
        }
    }

    async fn put_whole(&self, asset: &Asset, name: &str, file: File) -> Result<Put, Fault> {
        let (reading, bytes) = Reading::new(file, asset).next(PART_BYTES.saturating_add(1)).await?;
        reading.check(asset)?;
        let payload = PutPayload::from(bytes);
        let options =
            |mode| PutOptions { mode, attributes: self.attributes(&asset.mime), ..PutOptions::default() };
        let sent = self.inner.put_opts(&self.at(name), payload.clone(), options(PutMode::Create)).await;
        match sent {
            Ok(_) => return Ok(Put::Sent),
            // Somebody was first, or this very upload was and its reply was lost; or the store has no
            // put-if-absent, and the row in the collection is the only lock.
            Err(
                Error::AlreadyExists { .. }
                | Error::Precondition { .. }
                | Error::NotImplemented { .. }
                | Error::NotSupported { .. },
            ) => {}
            Err(error) => return Err(self.fault(&error)),
        }
        if self.look(name).await? == Some(asset.bytes) {
            return Ok(Put::WasThere);
        }
        // What stands under the digest is not what the digest names: a hand or a broken disk made it.
        let sent = self.inner.put_opts(&self.at(name), payload, options(PutMode::Overwrite)).await;
        sent.map(|_| Put::Sent).map_err(|error| self.fault(&error))
    }

    /// Parts have no put-if-absent: a look comes before, and nobody sees the object before its digest is
    /// known to be right.
    async fn put_parts(&self, asset: &Asset, name: &str, file: File) -> Result<Put, Fault> {
        if self.look(name).await? == Some(asset.bytes) {
            return Ok(Put::WasThere);
        }
        let options = PutMultipartOptions {
            attributes: self.attributes(&asset.mime),
            ..PutMultipartOptions::default()
        };
        let told = |error: Error| self.fault(&error);
        let mut upload = self.inner.put_multipart_opts(&self.at(name), options).await.map_err(told)?;
        let mut reading = Reading::new(file, asset);
        let sent = loop {
            let (next, part) = match reading.next(PART_BYTES).await {
                Ok(read) => read,
                Err(fault) => break Err(fault),
            };
            reading = next;
            if part.is_empty() {
                break reading.check(asset);
            }
            if let Err(error) = upload.put_part(PutPayload::from(part)).await {
                break Err(told(error));
            }
        };
        if let Err(fault) = sent {
            // What is left of it is no object; the store's own rule takes away what this cannot.
            let _ = upload.abort().await;
            return Err(fault);
        }
        upload.complete().await.map(|_| Put::Sent).map_err(told)
    }
}

#[async_trait]
impl Objects for Bucket {
    fn place(&self) -> &str {
        &self.place
    }

    fn is_near(&self) -> bool {
        self.near
    }

    async fn look(&self, name: &str) -> Result<Option<u64>, Fault> {
        match self.inner.head(&self.at(name)).await {
            Ok(found) => Ok(Some(found.size)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.fault(&error)),
        }
    }

    async fn put(&self, asset: &Asset, name: &str, file: File) -> Result<Put, Fault> {
        if asset.bytes > PART_BYTES as u64 {
            self.put_parts(asset, name, file).await
        } else {
            self.put_whole(asset, name, file).await
        }
    }

    async fn read(&self, name: &str, start: u64) -> Result<Option<Vec<u8>>, Fault> {
        let Some(bytes) = self.look(name).await? else { return Ok(None) };
        let end = bytes.min(start.saturating_add(PART_BYTES as u64));
        // Of nothing there is no range.
        if start >= end {
            return Ok(Some(Vec::new()));
        }
        match self.inner.get_range(&self.at(name), start..end).await {
            Ok(read) => Ok(Some(read.to_vec())),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.fault(&error)),
        }
    }

    async fn delete(&self, name: &str) -> Result<(), Fault> {
        match self.inner.delete(&self.at(name)).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.fault(&error)),
        }
    }

    async fn try_out(&self, name: &str) -> Result<Tried, Fault> {
        let create = || PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        let payload = PutPayload::from_static(b"idempost doctor\n");
        let told = |error: Error| self.fault(&error);
        let first = self.inner.put_opts(&self.at(name), payload.clone(), create()).await;
        let put_if_absent = match first {
            Ok(_) => match self.inner.put_opts(&self.at(name), payload, create()).await {
                Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => true,
                Ok(_) => false,
                Err(error) => return Err(told(error)),
            },
            Err(Error::NotImplemented { .. } | Error::NotSupported { .. }) => {
                self.inner.put(&self.at(name), payload).await.map_err(told)?;
                false
            }
            Err(error) => return Err(told(error)),
        };
        let read = self.look(name).await?.is_some();
        self.delete(name).await?;
        Ok(Tried { put_if_absent, deleted: read && self.look(name).await?.is_none() })
    }
}

/// A reply that will be the same next time: 400 to 499, but for "too many requests" and time-outs.
fn is_refusal(text: &str) -> bool {
    let code = text.split("status code: ").nth(1).and_then(|rest| rest.get(..3));
    code.is_some_and(|code| code.starts_with('4') && !matches!(code, "408" | "409" | "425" | "429"))
}

/// A text without secrets and without the query of any address (a signature may stand there).
fn cleaned(text: &str, secrets: &[String]) -> String {
    let mut out = String::with_capacity(text.len());
    for (number, word) in text.split(' ').enumerate() {
        if number > 0 {
            out.push(' ');
        }
        match word.split_once('?') {
            Some((address, _)) if address.contains("://") => {
                out.push_str(address);
                out.push_str("?…");
            }
            _ => out.push_str(word),
        }
    }
    for secret in secrets {
        out = out.replace(secret.as_str(), "…");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_signatures_are_taken_out_of_what_is_told() {
        let variables = std::collections::BTreeMap::from([
            ("AWS_SECRET_ACCESS_KEY".to_owned(), "hunter22".to_owned()),
            ("AWS_REGION".to_owned(), "eu-west-1".to_owned()),
            ("HOME".to_owned(), "/home/me".to_owned()),
        ]);
        let options = Options::of(&variables);
        assert_eq!(format!("{options:?}"), "[\"aws_region\", \"aws_secret_access_key\"]");
        let text = "PUT https://h/x?sig=abc&se=1 in eu-west-1 - key hunter22.";
        assert_eq!(cleaned(text, &options.secrets()), "PUT https://h/x?… in eu-west-1 - key ….");
    }

    #[test]
    fn a_refusal_is_told_from_a_pause() {
        assert!(is_refusal("Server returned non-2xx status code: 400 Bad Request: x"));
        assert!(!is_refusal("Server returned non-2xx status code: 503 Service Unavailable: x"));
        assert!(!is_refusal("Server returned non-2xx status code: 429 Too Many Requests: x"));
        assert!(!is_refusal("connection refused"));
    }
}
