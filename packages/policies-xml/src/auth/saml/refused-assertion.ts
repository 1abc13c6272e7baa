import type { ErrorCode } from '@sluice/core'

/** Reason for refusing an assertion. */
export type AssertionIssue =
  | 'missing'
  | 'malformed'
  | 'encrypted'
  | 'status'
  | 'unsigned'
  | 'signature'
  | 'issuer'
  | 'audience'
  | 'recipient'
  | 'expired'
  | 'notYetValid'
  | 'tooOld'
  | 'replayed'

/** Error code and client message per reason. The detailed reason goes only to the traffic log. */
export const ISSUES: Readonly<Record<AssertionIssue, readonly [ErrorCode, string]>> = {
  missing: ['GW_AUTH_MISSING', 'send a SAML assertion where the API expects it'],
  malformed: ['GW_TOKEN_MALFORMED', 'the assertion is not valid SAML 2.0'],
  encrypted: ['GW_TOKEN_MALFORMED', 'the assertion is encrypted: send it signed, without encryption'],
  status: ['GW_TOKEN_MALFORMED', 'the response reports a failed login'],
  unsigned: ['GW_TOKEN_SIGNATURE', 'the assertion is not signed'],
  signature: ['GW_TOKEN_SIGNATURE', 'the signature of the assertion is not valid'],
  issuer: ['GW_TOKEN_ISSUER', 'the issuer of the assertion is not accepted'],
  audience: ['GW_TOKEN_AUDIENCE', 'the assertion is meant for another audience'],
  recipient: ['GW_TOKEN_AUDIENCE', 'the assertion is meant for another recipient, or another request'],
  expired: ['GW_TOKEN_EXPIRED', 'the assertion has expired: get a new one'],
  notYetValid: ['GW_TOKEN_NOT_YET_VALID', 'the assertion is not valid yet: try again later'],
  tooOld: ['GW_TOKEN_EXPIRED', 'the assertion is too old for one-time use: get a new one'],
  replayed: ['GW_TOKEN_REPLAYED', 'the assertion was used before: get a new one'],
}

/** A refused assertion. The message is for the operator, and does not quote the assertion. */
export class RefusedAssertion extends Error {
  override readonly name = 'RefusedAssertion'
  readonly issue: AssertionIssue

  constructor(issue: AssertionIssue, reason: string = ISSUES[issue][1]) {
    super(reason)
    this.issue = issue
  }
}
