import type { Exchange } from '@sluice/core'
import { cookieNamed } from './cookie-text.js'
import { requestHeader, responseHeader } from './header-text.js'
import type { NamedTexts } from './named-texts.js'
import { queryParameter } from './query-text.js'
import type { Read } from './term.js'

/** `route`: decides whether a route matches. `policy`: decides whether a policy runs; knows the response too. */
export type ConditionScope = 'route' | 'policy'

/** The types of variables, as CEL writes them. */
export type VariableType = Variable['type']

/** When a variable has its value: with the request, with its route, or with the response. */
type Stage = 'request' | 'routed' | 'response'

/** A variable, and how it is read from an exchange. */
export type Variable = { readonly since: Stage } & (
  | { readonly type: 'string'; readonly canBeAbsent: boolean; readonly read: Read<string | null> }
  | { readonly type: 'int'; readonly read: Read<number> }
  | { readonly type: 'list<string>'; readonly read: Read<readonly string[]> }
  | { readonly type: 'map<string, string>'; readonly texts: NamedTexts }
  | { readonly type: 'environment' }
)

const NO_GROUPS: readonly string[] = []

/** Every variable by its path, in the order of the documentation. */
export const VARIABLES: ReadonlyMap<string, Variable> = new Map<string, Variable>([
  ['req.method', text('request', (x) => x.method)],
  ['req.path', text('request', (x) => x.path)],
  ['req.host', text('request', (x) => x.host)],
  ['req.scheme', text('request', (x) => x.scheme)],
  ['req.id', text('request', (x) => x.id)],
  ['req.contentLength', { type: 'int', since: 'request', read: (x) => x.contentLength }],
  ['req.header', texts('request', requestHeader)],
  ['req.query', texts('request', queryParameter)],
  ['req.cookie', texts('request', cookieNamed)],
  ['req.params', texts('routed', pathParameter)],
  ['client.ip', text('request', (x) => x.clientIp)],
  ['consumer.id', optional((x) => (x.consumer === null ? null : x.consumer.id))],
  ['consumer.name', optional((x) => (x.consumer === null ? null : x.consumer.name))],
  ['consumer.auth', optional((x) => (x.consumer === null ? null : x.consumer.auth))],
  [
    'consumer.groups',
    { type: 'list<string>', since: 'routed', read: (x) => (x.consumer === null ? NO_GROUPS : x.consumer.groups) },
  ],
  ['vars', texts('routed', freeVariable)],
  ['env', { type: 'environment', since: 'request' }],
  ['res.status', { type: 'int', since: 'response', read: (x) => x.status }],
  ['res.header', texts('response', responseHeader)],
  ['upstream.name', optional((x) => (x.upstream === '' ? null : x.upstream))],
  ['upstream.target', optional((x) => (x.target === '' ? null : x.target))],
  ['upstream.status', { type: 'int', since: 'response', read: (x) => x.upstreamStatus }],
])

/** What the contract names and a later version will know. */
export const NOT_YET: ReadonlyMap<string, string> = new Map([
  ['req.body', 'use the path, a header or the query'],
  ['jwt', 'use a header that the identity provider sets'],
])

function text(since: Stage, read: Read<string>): Variable {
  return { type: 'string', since, canBeAbsent: false, read }
}

function optional(read: Read<string | null>): Variable {
  return { type: 'string', since: 'routed', canBeAbsent: true, read }
}

function texts(since: Stage, named: NamedTexts['named']): Variable {
  return { type: 'map<string, string>', since, texts: { named } }
}
