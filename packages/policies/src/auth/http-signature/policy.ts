import { definePolicy, type Eventual, type Exchange, type Step } from '@sluice/core'
import { wallClockNow } from '../../crypto/replay/time-window.js'
import { linesOf, receivedRequest, sentRequest } from '../../shared/message/request-facts.js'
import { isBodiless } from '../../shared/message/side.js'
import { whenSettled } from '../../shared/outcome/when-settled.js'
import { RequestGate } from './request-gate.js'
import { ResponseGate } from './response-gate.js'
import { httpSignatureSchema } from './schema.js'
import { MessageSigner } from './signer.js'

/** Verifies and creates HTTP Message Signatures (RFC 9421) for requests and responses. */
export const httpSignature = definePolicy({
  name: 'http-signature',
  summary: 'Verifies and creates HTTP Message Signatures (RFC 9421) with body digests (RFC 9530).',
  schema: httpSignatureSchema,
  cost: 'cpu',
  authenticates: ({ verify }) =>
    verify?.keys.some(({ consumer }) => consumer !== undefined) === true ? 'request' : null,
  compile({ verify, sign, verifyResponse, signResponse }, env) {
    const gate = verify === undefined ? null : new RequestGate(verify, env)
    const signer = sign === undefined ? null : new MessageSigner('request', sign)
    const responseGate = verifyResponse === undefined ? null : new ResponseGate(verifyResponse, env)
    const responseSigner = signResponse === undefined ? null : new MessageSigner('response', signResponse)
    return {
      name: 'http-signature',
      ...requestHooks(gate, signer),
      ...responseHooks(responseGate, responseSigner),
    }
  },
})

function requestHooks(gate: RequestGate | null, signer: MessageSigner | null): Omit<Step, 'name'> {
  const completes = gate?.readsBody === true
  return {
    ...(gate !== null && { onRequest: (x: Exchange) => gate.admit(x) }),
    decidesOnBody: completes,
    ...((completes || signer?.readsBody === true) && {
      onRequestBody: (x: Exchange, body: Uint8Array): Eventual => (completes ? gate.complete(x, body) : null),
    }),
    ...(signer !== null && { onAttempt: (x: Exchange) => signRequest(signer, x) }),
  }
}

function signRequest(signer: MessageSigner, x: Exchange): Eventual {
  return signer.sign({
    message: { request: sentRequest(x), response: null },
    headers: x.headers,
    body: x.body,
    nowMs: wallClockNow(x),
  })
}

function responseHooks(gate: ResponseGate | null, signer: MessageSigner | null): Omit<Step, 'name'> {
  const completes = gate?.readsBody === true
  const signsBody = signer?.readsBody === true
  const signsHead = (x: Exchange): boolean => signer !== null && (!signsBody || isBodiless(x))
  return {
    ...((gate !== null || signer !== null) && {
      onResponse: (x: Exchange): Eventual =>
        gate?.admit(x) ?? (signsHead(x) ? signResponse(signer!, x, null) : null),
    }),
    ...((completes || signsBody) && {
      onResponseBody(x: Exchange, body: Uint8Array): Eventual {
        const outcome = completes ? gate.complete(x, body) : null
        return signsBody ? whenSettled(outcome, (reply) => reply ?? signResponse(signer, x, body)) : outcome
      },
    }),
  }
}

function signResponse(signer: MessageSigner, x: Exchange, body: Uint8Array | null): Eventual {
  const headers = x.responseHeaders
  return signer.sign({
    message: {
      request: receivedRequest(x),
      response: { status: x.status, lines: (name) => linesOf(headers, name) },
    },
    headers,
    body,
    nowMs: wallClockNow(x),
  })
}
