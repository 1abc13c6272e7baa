import { answer, escapedXml, type Reply } from '@sluice/core'
import { NS } from './names.js'

/** Fault codes of WS-Security 1.1.1 section 12, with their texts from there. */
const FAULTS = {
  UnsupportedSecurityToken: 'An unsupported token was provided',
  UnsupportedAlgorithm: 'An unsupported signature or encryption algorithm was used',
  InvalidSecurity: 'An error was discovered processing the <wsse:Security> header',
  InvalidSecurityToken: 'An invalid security token was provided',
  FailedAuthentication: 'The security token could not be authenticated or authorized',
  FailedCheck: 'The signature or decryption was invalid',
  SecurityTokenUnavailable: 'Referenced security token could not be retrieved',
  MessageExpired: 'The message has expired',
} as const

/** Fault code without prefix. */
export type FaultCode = keyof typeof FAULTS

/** SOAP version of a message. */
export type SoapVersion = '1.1' | '1.2'

/** A message that violates the rules. Never leaves this policy. */
export class SecurityFault extends Error {
  readonly code: FaultCode

  /** @param reason for tests and debugging. Clients never see it. */
  constructor(code: FaultCode, reason: string) {
    super(reason)
    this.code = code
  }
}

type FaultReplies = Readonly<Record<FaultCode, Readonly<Record<SoapVersion, Reply>>>>

/** Creates the responses for every fault in both SOAP versions. */
export function faultReplies(): FaultReplies {
  const replies = Object.keys(FAULTS).map((name) => {
    const code = name as FaultCode
    return [code, { '1.1': soap11Reply(code), '1.2': soap12Reply(code) }] as const
  })
  return Object.fromEntries(replies) as FaultReplies
}

/**
 * Creates a SOAP 1.1 fault. Section 6.2 requires 500 for every fault. The WS-Security code is the fault code.
 */
function soap11Reply(code: FaultCode): Reply {
  const body =
    `<soap:Envelope xmlns:soap="${NS.soap11}"><soap:Body><soap:Fault ${declaration(code)}>` +
    `<faultcode>${qualified(code)}</faultcode><faultstring>${escapedXml(FAULTS[code])}</faultstring>` +
    '</soap:Fault></soap:Body></soap:Envelope>'
  return faultReply(code, 500, 'text/xml; charset=utf-8', body)
}

/**
 * Creates a SOAP 1.2 fault. Part 2 section 7.5.2.2 requires 400 for sender faults. The WS-Security code is
 * the subcode.
 */
function soap12Reply(code: FaultCode): Reply {
  const body =
    `<env:Envelope xmlns:env="${NS.soap12}"><env:Body><env:Fault ${declaration(code)}>` +
    `<env:Code><env:Value>env:Sender</env:Value><env:Subcode><env:Value>${qualified(code)}</env:Value>` +
    `</env:Subcode></env:Code><env:Reason><env:Text xml:lang="en">${escapedXml(FAULTS[code])}</env:Text>` +
    '</env:Reason></env:Fault></env:Body></env:Envelope>'
  return faultReply(code, 400, 'application/soap+xml; charset=utf-8', body)
}

function faultReply(code: FaultCode, status: number, contentType: string, body: string): Reply {
  const headers = ['x-gw-error', 'GW_WSS_FAILED', 'content-type', contentType]
  const problem = { code: 'GW_WSS_FAILED', title: 'WS-Security check failed', detail: FAULTS[code] } as const
  return { ...answer(status, headers, Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>${body}`)), problem }
}

/** Returns the qualified fault code. MessageExpired is in the utility namespace. */
function qualified(code: FaultCode): string {
  return code === 'MessageExpired' ? `wsu:${code}` : `wsse:${code}`
}

function declaration(code: FaultCode): string {
  return code === 'MessageExpired' ? `xmlns:wsu="${NS.wsu}"` : `xmlns:wsse="${NS.wsse}"`
}
