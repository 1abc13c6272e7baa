import { type Exchange, refusal, removeHeader, setHeader } from '@sluice/core'
import aws4 from 'aws4'
import { bodyDigest } from '../../crypto/digest/body-digest.js'
import { whenSettled } from '../../shared/outcome/when-settled.js'
import type { BackendAuthConfig } from './schema.js'
import type { Scheme } from './scheme.js'

type AwsConfig = NonNullable<BackendAuthConfig['awsSigV4']>

const EMPTY = new Uint8Array(0)
/** Prefix of fields that are signed if present. Fields that proxies add on the way are not signed. */
const SIGNED_PREFIX = 'x-amz-'
const OWN_FIELDS = ['authorization', 'x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256'] as const
const UNREADABLE = refusal(
  'GW_BAD_REQUEST',
  'the path or the query contains an invalid percent-encoding; correct it',
)

/** Request properties that the signature covers. */
export interface AwsRequest {
  readonly method: string
  readonly host: string
  /** Path and query as sent. */
  readonly path: string
  readonly headers: readonly string[]
  /** SHA-256 of the body in hexadecimal, or `UNSIGNED-PAYLOAD`. */
  readonly payload: string
  readonly nowMs: number
}

/** Signs every attempt with AWS Signature Version 4. @throws Error if options contradict each other. */
export function awsSigV4Scheme(config: AwsConfig): Scheme {
  const { service, unsignedPayload } = config
  if (unsignedPayload && service !== 's3')
    throw new Error("'awsSigV4.unsignedPayload' is only for the service s3")
  return {
    needsBody: !unsignedPayload,
    setsAuthorization: true,
    onAttempt(x) {
      for (const name of OWN_FIELDS) removeHeader(x.headers, name)
      const payload = unsignedPayload
        ? 'UNSIGNED-PAYLOAD'
        : whenSettled(bodyDigest('sha256', x.body ?? EMPTY), (digest) => digest.toString('hex'))
      return whenSettled(payload, (text) => put(x, config, text))
    },
  }
}

function put(x: Exchange, config: AwsConfig, payload: string) {
  const path = x.query === '' ? x.sentPath : `${x.sentPath}?${x.query}`
  const { method, headers, sentHost: host } = x
  try {
    const signed = awsFields(config, { method, host, path, headers, payload, nowMs: Date.now() })
    for (const [name, value] of signed) setHeader(headers, name, value)
    return null
  } catch (error) {
    if (error instanceof URIError) return UNREADABLE
    throw error
  }
}

/** Returns the fields that sign a request. @throws URIError if a percent-encoding is invalid. */
export function awsFields(
  config: Omit<AwsConfig, 'unsignedPayload'>,
  request: AwsRequest,
): readonly (readonly [string, string])[] {
  const { accessKeyId, secretAccessKey, sessionToken, service, region } = config
  const isS3 = service === 's3'
  const own: [string, string][] = [['x-amz-date', amzDate(request.nowMs)]]
  if (sessionToken !== undefined) own.push(['x-amz-security-token', sessionToken])
  if (isS3) own.push(['x-amz-content-sha256', request.payload])
  const options = {
    ...{ service, region, host: request.host, method: request.method, path: request.path },
    headers: {
      ...Object.fromEntries(signedFields(request.headers)),
      host: request.host,
      // Reuses the body digest that has already been computed.
      'x-amz-content-sha256': request.payload,
      ...Object.fromEntries(own),
    },
    extraHeadersToIgnore: isS3 ? {} : { 'x-amz-content-sha256': true },
  }
  const { headers } = new aws4.RequestSigner(options, { accessKeyId, secretAccessKey }).sign()
  return [...own, ['authorization', String(headers?.['Authorization'])]]
}

/** Collects the fields to sign. Repeated lines of a field are joined with a comma. */
function signedFields(headers: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>()
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!
    if (name !== 'content-type' && !name.startsWith(SIGNED_PREFIX)) continue
    const before = fields.get(name)
    fields.set(name, before === undefined ? headers[i + 1]! : `${before},${headers[i + 1]!}`)
  }
  return fields
}

/** Formats a time, for example `20150830T123600Z`. */
function amzDate(nowMs: number): string {
  return new Date(nowMs).toISOString().replaceAll(/[:-]|\.\d{3}/g, '')
}
