//! Every method of the process, from its descriptors, and requests in binary form.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use std::sync::Arc;

use buffa_descriptor::reflect::DynamicMessage;
use buffa_descriptor::{DescriptorPool, MessageIndex};
use serde_json::Value;

/// The descriptors that reflection serves.
const DESCRIPTORS: &[u8] = node::server::DESCRIPTORS;

/// The contract of the process.
#[derive(Clone)]
pub struct Described(pub Arc<DescriptorPool>);

#[derive(Clone, Debug)]
pub struct Method {
    /// `/torg.offers.v1.OfferService/GetOffer`.
    pub path: String,
    pub input: MessageIndex,
    pub output: MessageIndex,
    /// Whether the response is a stream.
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

    pub fn method(&self, path: &str) -> Method {
        self.methods().into_iter().find(|method| method.path == path).unwrap_or_else(|| panic!("no {path}"))
    }

    /// Converts a binary response to JSON; the error says why it is invalid.
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
