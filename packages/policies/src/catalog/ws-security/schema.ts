import { type Static, Type } from '@sinclair/typebox'
import { optionalClosed } from '../../shared/options.js'
import { add } from './add-schema.js'
import { requestCheck, responseCheck, STRICT } from './check-schema.js'

/** The configuration of `ws-security`. */
export const wsSecuritySchema = Type.Object(
  {
    request: optionalClosed('Requests.', {
      check: Type.Optional(requestCheck),
      add: Type.Optional(add('What is added for the upstream.')),
    }),
    response: optionalClosed('Responses.', {
      check: Type.Optional(responseCheck),
      add: Type.Optional(add('What is added for the client.')),
    }),
  },
  {
    ...STRICT,
    description: [
      'Takes SOAP 1.1 and 1.2 messages as `text/xml`, `application/xml` or `application/soap+xml`, without content coding and attachments. `check` runs before `add`; what is encrypted is decrypted in the order in which the header names keys and signatures.',
      'A request that fails is answered with a SOAP fault of WS-Security 1.1.1 (`wsse:FailedCheck`, `wsse:FailedAuthentication`, `wsse:InvalidSecurity`, `wsu:MessageExpired`, …) and `x-gw-error: GW_WSS_FAILED`: status 500 for SOAP 1.1 (section 6.2 there), 400 and the code `env:Sender` for SOAP 1.2 (part 2, section 7.5.2.2). Once something was decrypted every failure is `wsse:FailedCheck`, so that nobody learns from refusals what a ciphertext holds. A response that fails becomes 502 `GW_RESPONSE_INVALID`.',
      'A message is accepted only when it has exactly one Security header for the actor, no `wsu:Id` twice, and no id twice that the header refers to; when each signature refers by id to the Body, to blocks of the Header or to children of the Security header, through one canonicalization and nothing else (exclusive with its prefix list, C14N 1.0 or 1.1, all without comments); and when the parts in `parts` are those elements themselves. Comments inside a signature, XSLT, XPath, enveloped signatures, references out of the message and `X509Data` with a certificate in KeyInfo are refused.',
      'Trust comes from `certificates` and `authorities` only: KeyInfo points at a certificate (BinarySecurityToken, key identifier, thumbprint, issuer and serial), it never makes one trusted. Certificates have to be in their time of validity; revocation lists are not asked. An RSA key that an authority has signed has at least 2048 bits.',
      'The user of a UsernameToken becomes the consumer, without one the signer. A nonce with its creation time is accepted once, for as long as its time is fresh; each worker remembers 200,000 at most, and the next is answered 503 `GW_OVERLOADED` rather than one forgotten. A PasswordText without nonce and time can be sent again by whoever saw it.',
      'Nothing is read or written but SOAP: a request without a body is refused, so use `when` where a route also serves a WSDL. An empty response passes.',
    ].join('\n\n'),
  },
)

/** The configuration of `ws-security`, derived from its schema. */
export type WsSecurityConfig = Static<typeof wsSecuritySchema>
