import { randomUUID } from 'node:crypto'
import { type Exchange, headerCount, headerValue, parseDuration } from '@sluice/core'
import { compileJwtSigner } from '../../identity/oauth/client-auth.js'
import { fieldName } from '../../shared/message/field-name.js'
import { compileTemplate, type Render } from '../../shared/options/template.js'
import type { BackendAuthConfig } from './schema.js'

/** Configuration of `oauth2`. */
export type Oauth2Config = NonNullable<BackendAuthConfig['oauth2']>

/** Form parameters of a token request. */
export type GrantForm = Readonly<Record<string, string>>

/** An OAuth 2.0 grant. */
export interface Grant {
  /**
   * Reads the subject of a token from a request, '' if missing. Null if the gateway is the subject and
   * requests share its token.
   */
  readonly subjectOf: Render | null
  /** True if the subject is a token of the client, which other policies may remove before the attempt. */
  readonly isClientToken: boolean
  /** Header that contains the client's token, if the grant uses one. */
  readonly subjectField?: string
  /** Returns the form parameters for a subject, '' for the gateway itself. */
  formOf(subject: string): GrantForm | Promise<GrantForm>
}

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
/** Maximum length of a client token that is exchanged, in characters. */
const MAX_SUBJECT = 16_384

/** Compiles the grant. @throws Error if options do not belong to the grant or are invalid. */
export function compileGrant(config: Oauth2Config): Grant {
  const { grant, assertion, subjectHeader, subjectTokenType, requestedTokenType } = config
  if (assertion !== undefined && grant !== 'jwt-bearer')
    throw new Error("'assertion' is only for grant: jwt-bearer")
  const isExchange = grant === 'token-exchange'
  if (!isExchange && (subjectTokenType ?? requestedTokenType) !== undefined)
    throw new Error("'subjectTokenType' and 'requestedTokenType' are only for grant: token-exchange")
  if (assertion !== undefined) return assertionGrant(config, assertion)
  if (grant === 'client-credentials') {
    if (subjectHeader !== undefined) throw new Error("'subjectHeader' is only for a grant that has a subject")
    return { subjectOf: null, isClientToken: false, formOf: () => ({ grant_type: 'client_credentials' }) }
  }
  const types = {
    subject_token_type: subjectTokenType ?? ACCESS_TOKEN,
    ...(requestedTokenType !== undefined && { requested_token_type: requestedTokenType }),
  }
  const subjectField = fieldName('request', subjectHeader ?? 'authorization')
  return {
    subjectOf: clientToken(subjectField),
    isClientToken: true,
    subjectField,
    formOf: (subject) =>
      isExchange
        ? { grant_type: TOKEN_EXCHANGE, subject_token: subject, ...types }
        : { grant_type: JWT_BEARER, assertion: subject },
  }
}

/**
 * Reads the token from a header. `authorization` must start with `Bearer`; in other headers it is optional.
 */
function clientToken(name: string): Render {
  return (x: Exchange) => {
    const line = headerCount(x.headers, name) === 1 ? headerValue(x.headers, name)! : ''
    const token = /^bearer +/i.test(line)
      ? line.slice(line.indexOf(' ')).trim()
      : name === 'authorization'
        ? ''
        : line
    return token.length > MAX_SUBJECT ? '' : token
  }
}

/** Grant of RFC 7523 section 3: the gateway signs an assertion about the subject. */
function assertionGrant(
  { tokenUrl }: Oauth2Config,
  assertion: NonNullable<Oauth2Config['assertion']>,
): Grant {
  const { issuer, subject = issuer, audience = tokenUrl, claims = {}, expiresIn } = assertion
  const { privateKey, keyId, algorithm } = assertion
  const sign = compileJwtSigner({ key: privateKey, keyId, algorithm })
  const seconds = Math.max(1, Math.round(parseDuration(expiresIn) / 1000))
  const template = compileTemplate(subject)
  const isFixed = typeof template === 'string'
  return {
    subjectOf: isFixed ? null : template,
    isClientToken: false,
    async formOf(text) {
      const now = Math.floor(Date.now() / 1000)
      const token = await sign({
        ...claims,
        ...{ iss: issuer, sub: isFixed ? template : text, aud: audience, jti: randomUUID() },
        ...{ iat: now, exp: now + seconds },
      })
      return { grant_type: JWT_BEARER, assertion: token }
    },
  }
}
