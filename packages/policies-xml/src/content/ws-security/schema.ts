import { type Static, Type } from '@sinclair/typebox'
import { optionalClosed } from '@sluice/policies/shared/options/options'
import { add } from './add-schema.js'
import { requestCheck, responseCheck, STRICT } from './check-schema.js'

/** Schema of the `ws-security` configuration. */
export const wsSecuritySchema = Type.Object(
  {
    request: optionalClosed('Requests.', {
      check: Type.Optional(requestCheck),
      add: Type.Optional(add('Security elements to add for the upstream.')),
    }),
    response: optionalClosed('Responses.', {
      check: Type.Optional(responseCheck),
      add: Type.Optional(add('Security elements to add for the client.')),
    }),
  },
  {
    ...STRICT,
    description: [
      'Processes SOAP 1.1 and 1.2 messages of type `text/xml`, `application/xml` or `application/soap+xml`, without content coding and attachments. `check` runs before `add`. Decryption and signature checks follow the order of keys and signatures in the header.',
      'A failed request gets a SOAP fault of WS-Security 1.1.1 (`wsse:FailedCheck`, `wsse:FailedAuthentication`, `wsse:InvalidSecurity`, `wsu:MessageExpired`, …) and `x-gw-error: GW_WSS_FAILED`: status 500 for SOAP 1.1 (section 6.2 there), 400 and the code `env:Sender` for SOAP 1.2 (part 2, section 7.5.2.2). After a decryption, every failure is `wsse:FailedCheck`, so that faults reveal nothing about encrypted data. A failed response is replaced with 502 `GW_RESPONSE_INVALID`.',
      'A message needs exactly one Security header for the actor. No `wsu:Id` may occur twice, and no id that the header refers to. Each signature must refer by id to the Body, to Header blocks or to children of the Security header. The only transform is one canonicalization without comments: exclusive (with prefix list), C14N 1.0 or 1.1. The signed elements must be the parts in `parts` themselves. Comments in signatures, XSLT, XPath, enveloped signatures, references out of the message and `X509Data` with a certificate in KeyInfo are refused.',
      'Only `certificates` and `authorities` establish trust. KeyInfo only refers to a certificate (BinarySecurityToken, key identifier, thumbprint, issuer and serial). Certificates must be within their validity period. Revocation is not checked. RSA keys in certificates of an authority need at least 2048 bits.',
      'The consumer is the user of the UsernameToken, or the signer if there is none. A nonce with a creation time is accepted once while its time is fresh. Each worker remembers at most 200,000 nonces; if the limit is reached, requests get 503 `GW_OVERLOADED`. A PasswordText without nonce and creation time can be replayed.',
      'Only SOAP is accepted. A request without a body is refused, so use `when` if a route also serves a WSDL. An empty response passes.',
    ].join('\n\n'),
  },
)

/** Configuration of `ws-security`, derived from its schema. */
export type WsSecurityConfig = Static<typeof wsSecuritySchema>
