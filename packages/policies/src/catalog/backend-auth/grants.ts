import { randomUUID } from 'node:crypto'
import { type Exchange, headerCount, headerValue, parseDuration } from '@sluice/core'
import { compileJwtSigner } from '../../shared/client-auth.js'
import { fieldName } from '../../shared/field-name.js'
import { compileTemplate, type Render } from '../../shared/template.js'
import {
  type BackendAuthConfig,
  DEFAULT_ASSERTION_TIME,
  DEFAULT_SUBJECT_HEADER,
  DEFAULT_TOKEN_TYPE,
} from './schema.js'

type Oauth2Config = NonNullable<BackendAuthConfig['oauth2']>

/** Parameters of a token request. */
export type GrantForm = Readonly<Record<string, string>>

/** What a token is asked for with. */
export interface Grant {
  /** Whom the token stands for; '' when the request does not say. Null: the gateway itself, so that all requests share it. */
  readonly subjectOf: Render | null
  /** Whether the subject is a token of the client, which policies may take away before the attempt. */
  readonly isClientToken: boolean
  /** The header in which the token of the client stands; absent: there is none. */
  readonly subjectField?: string
  /** The parameters for a subject, '' for the gateway itself. */
  formOf(subject: string): GrantForm | Promise<GrantForm>
}

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
/** Longest token of a client that is exchanged. */
const MAX_SUBJECT = 16_384

/** @throws Error for keys that do not belong to the grant, or cannot be used. */
export function compileGrant(config: Oauth2Config): Grant {
  const {
    grant = 'client-credentials',
    assertion,
    subjectHeader,
    subjectTokenType,
    requestedTokenType,
  } = config
  if (assertion !== undefined && grant !== 'jwt-bearer')
    throw new Error("'assertion' is for grant: jwt-bearer")
  const isExchange = grant === 'token-exchange'
  if (!isExchange && (subjectTokenType ?? requestedTokenType) !== undefined)
    throw new Error("'subjectTokenType' and 'requestedTokenType' are for grant: token-exchange")
  if (assertion !== undefined) return assertionGrant(config, assertion)
  if (grant === 'client-credentials') {
    if (subjectHeader !== undefined) throw new Error("'subjectHeader' is for a grant that has a subject")
    return { subjectOf: null, isClientToken: false, formOf: () => ({ grant_type: 'client_credentials' }) }
  }
  const types = {
    subject_token_type: subjectTokenType ?? DEFAULT_TOKEN_TYPE,
    ...(requestedTokenType !== undefined && { requested_token_type: requestedTokenType }),
  }
  const subjectField = fieldName('request', subjectHeader ?? DEFAULT_SUBJECT_HEADER)
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

/** The token in a header, behind `Bearer` where that is written. */
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

/** RFC 7523 section 3: a token of the gateway's own says who is meant. */
function assertionGrant(
  { tokenUrl }: Oauth2Config,
  assertion: NonNullable<Oauth2Config['assertion']>,
): Grant {
  const {
    issuer,
    subject = issuer,
    audience = tokenUrl,
    claims = {},
    expiresIn = DEFAULT_ASSERTION_TIME,
  } = assertion
  const { privateKey, keyId, algorithm = 'ES256' } = assertion
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
