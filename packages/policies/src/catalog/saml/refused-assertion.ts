import type { ErrorCode } from '@sluice/core'

/** Why an assertion is not accepted. */
export type SamlFlaw =
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

/** What a caller is told of each flaw; the reason goes to the traffic log alone. */
export const FLAWS: Readonly<Record<SamlFlaw, readonly [ErrorCode, string]>> = {
  missing: ['GW_AUTH_MISSING', 'send a SAML assertion where the API expects it'],
  malformed: ['GW_TOKEN_MALFORMED', 'the assertion is not one of SAML 2.0 that can be read'],
  encrypted: ['GW_TOKEN_MALFORMED', 'the assertion is encrypted; send it signed only'],
  status: ['GW_TOKEN_MALFORMED', 'the response says that the login has failed'],
  unsigned: ['GW_TOKEN_SIGNATURE', 'the assertion is not signed'],
  signature: ['GW_TOKEN_SIGNATURE', 'the signature of the assertion is not one that is accepted here'],
  issuer: ['GW_TOKEN_ISSUER', 'the assertion is of an issuer that is not accepted here'],
  audience: ['GW_TOKEN_AUDIENCE', 'the assertion is meant for another audience'],
  recipient: ['GW_TOKEN_AUDIENCE', 'the assertion is meant for another recipient, or another request'],
  expired: ['GW_TOKEN_EXPIRED', 'the assertion has expired; get a new one'],
  notYetValid: ['GW_TOKEN_NOT_YET_VALID', 'the assertion is not valid yet; try it later'],
  tooOld: ['GW_TOKEN_EXPIRED', 'the assertion was issued too long ago to be used once; get a new one'],
  replayed: ['GW_TOKEN_REPLAYED', 'the assertion was used before; get a new one'],
}

/** An assertion that is not accepted; the message is for the operator, and quotes nothing of it. */
export class RefusedAssertion extends Error {
  override readonly name = 'RefusedAssertion'
  readonly flaw: SamlFlaw

  constructor(flaw: SamlFlaw, reason: string = FLAWS[flaw][1]) {
    super(reason)
    this.flaw = flaw
  }
}
