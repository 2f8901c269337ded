//! Every method of the process, by its descriptors, and requests in binary form.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use std::sync::Arc;

use buffa_descriptor::reflect::DynamicMessage;
use buffa_descriptor::{DescriptorPool, MessageIndex};
use serde_json::Value;

/// What reflection shows.
const DESCRIPTORS: &[u8] = node::server::DESCRIPTORS;

/// The contract of the process.
#[derive(Clone)]
pub struct Described(pub Arc<DescriptorPool>);

/// A method.
#[derive(Clone, Debug)]
pub struct Method {
    /// `/torg.offers.v1.OfferService/GetOffer`.
    pub path: String,
    /// The message that it takes.
    pub input: MessageIndex,
    /// The message that it answers with.
    pub output: MessageIndex,
    /// Whether it answers with a stream.
    pub streams: bool,
}

impl Described {
    pub fn new() -> Described {
        Described(Arc::new(DescriptorPool::decode(DESCRIPTORS).unwrap()))
    }

    /// Every method of every service.
    pub fn methods(&self) -> Vec<Method> {
        let method = |service: &str, method: &buffa_descriptor::MethodDescriptor| Method {
            path: format!("/{service}/{}", method.name()),
            input: method.input(),
            output: method.output(),
            streams: method.is_server_streaming(),
        };
        let services = self.0.services().iter();
        services.flat_map(|one| one.methods().iter().map(|it| method(one.full_name(), it))).collect()
    }

    /// The method of this path.
    pub fn method(&self, path: &str) -> Method {
        self.methods().into_iter().find(|method| method.path == path).unwrap_or_else(|| panic!("no {path}"))
    }

    /// An answer in binary form as JSON, or why it is none.
    pub fn decode(&self, method: &Method, answer: &[u8]) -> Result<Value, String> {
        let message = DynamicMessage::decode(Arc::clone(&self.0), method.output, answer);
        let json =
            message.map_err(|error| error.to_string())?.to_json().map_err(|error| error.to_string())?;
        serde_json::from_str(&json).map_err(|error| error.to_string())
    }

    /// A request in binary form.
    pub fn encode(&self, method: &Method, request: &Value) -> Vec<u8> {
        let message = DynamicMessage::from_json(Arc::clone(&self.0), method.input, &request.to_string());
        message.unwrap_or_else(|error| panic!("{}: {error}: {request}", method.path)).encode_to_vec()
    }
}
