import type { ApiDescription, DescribedOperation } from '@sluice/policies'
import { sample } from 'openapi-sampler'

type Fields = Readonly<Record<string, unknown>>

/** An example of a message body. */
export interface ExampleBody {
  readonly mediaType: string
  readonly text: string
}

/** An example response of an operation. */
export interface ExampleResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Null if the response has no body. */
  readonly body: ExampleBody | null
}

/** An example request of an operation. */
export interface ExampleRequest {
  /** Path and query. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: ExampleBody | null
}

const JSON_TYPE = /^application\/([\w.-]+\+)?json\b/i
const XML_TYPE = /[/+]xml\b/i
/** Maximum depth of generated values; descriptions may be recursive. */
const MAX_DEPTH = 8

/**
 * Returns an example response: of the wanted status, or of the lowest successful one.
 * @returns null if the operation does not describe a response
 */
export function exampleResponse(
  api: ApiDescription,
  { operation }: DescribedOperation,
  wanted?: string,
): ExampleResponse | null {
  const responses = api.resolve(operation['responses'])
  const names = Object.keys(responses).sort()
  const name =
    names.find((one) => one === wanted) ??
    names.find((one) => /^2/.test(one)) ??
    names.find((one) => one === 'default') ??
    names[0]
  if (name === undefined) return null
  const response = api.resolve(responses[name])
  const headers = Object.entries(api.resolve(response['headers'])).flatMap(([field, header]) => {
    const value = exampleOf(api, api.resolve(header), 'response')
    return value === undefined ? [] : [[field.toLowerCase(), fieldText(value)] as const]
  })
  const status = /^\d{3}$/.test(name) ? Number(name) : Number(/^\d/.exec(name)?.[0] ?? 2) * 100
  return { status, headers: Object.fromEntries(headers), body: exampleBody(api, response, 'response') }
}

/**
 * Returns an example request with the required parameters of an operation.
 * @param path path of the description, such as `/orders/{id}`, with the prefix of its server
 * @returns null if a required parameter has no example
 */
export function exampleRequest(
  api: ApiDescription,
  { operation, pathItem }: DescribedOperation,
  path: string,
): ExampleRequest | null {
  let target = path
  const query = new URLSearchParams()
  const headers: Record<string, string> = {}
  for (const parameter of parametersOf(api, pathItem, operation)) {
    const name = String(parameter['name'])
    const value = exampleOf(api, parameter, 'request')
    const isSimple = ['string', 'number', 'boolean'].includes(typeof value)
    if (!isSimple || (parameter['in'] === 'path' && value === '')) return null
    if (parameter['in'] === 'path') target = target.replaceAll(`{${name}}`, encodeURIComponent(String(value)))
    else if (parameter['in'] === 'query') query.append(name, String(value))
    else if (parameter['in'] === 'header') headers[name.toLowerCase()] = fieldText(value)
    else return null
  }
  if (target.includes('{')) return null
  const text = query.size === 0 ? target : `${target}?${query}`
  return {
    target: text,
    headers,
    body: exampleBody(api, api.resolve(operation['requestBody']), 'request'),
  }
}

/** Returns the required parameters. Those of the operation replace those of its path. */
function parametersOf(api: ApiDescription, pathItem: Fields, operation: Fields): Fields[] {
  const found = new Map<string, Fields>()
  for (const holder of [pathItem, operation]) {
    const listed = Array.isArray(holder['parameters']) ? (holder['parameters'] as unknown[]) : []
    for (const parameter of listed.map((one) => api.resolve(one)))
      found.set(`${parameter['in']} ${parameter['name']}`, parameter)
  }
  return [...found.values()].filter((parameter) => parameter['required'] === true)
}

function exampleBody(api: ApiDescription, holder: Fields, side: 'request' | 'response'): ExampleBody | null {
  const media = Object.entries(api.resolve(holder['content']))
  const [mediaType, content] = media.find(([type]) => JSON_TYPE.test(type)) ?? media[0] ?? []
  if (mediaType === undefined || mediaType.includes('*')) return null
  const isXml = XML_TYPE.test(mediaType)
  const value = exampleOf(api, api.resolve(content), side, isXml ? 'xml' : 'json')
  if (value === undefined) return null
  const isText = typeof value === 'string' && !JSON_TYPE.test(mediaType)
  return { mediaType, text: isText ? value : JSON.stringify(value) }
}

/** Returns the example of a parameter, header or media type; undefined if none can be made. */
function exampleOf(
  api: ApiDescription,
  holder: Fields,
  side: 'request' | 'response',
  format: 'json' | 'xml' = 'json',
): unknown {
  if (holder['example'] !== undefined) return holder['example']
  const [first] = Object.values(api.resolve(holder['examples']))
  const named = api.resolve(first)['value']
  if (named !== undefined) return named
  if (holder['schema'] === undefined) return undefined
  const options = {
    format,
    quiet: true,
    maxSampleDepth: MAX_DEPTH,
    skipWriteOnly: side === 'response',
    skipReadOnly: side === 'request',
  }
  return sample(holder['schema'] as object, options, api.root) ?? undefined
}

/** Formats a value for a header field. */
function fieldText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
