import {
  type ASTNode,
  type TypeError as CheckError,
  Environment,
  type ParseError,
} from '@marcbachmann/cel-js'
import { suggestion } from '../spelling.js'

/**
 * `route`: decides whether a route matches. `policy`: decides whether a policy runs; knows the response too. `record`:
 * decides whether a target of the traffic log gets the record of an exchange that has ended; knows no bodies any more.
 * `value`: gives a policy a value.
 */
export type ConditionScope = 'route' | 'policy' | 'record' | 'value'

/** A node of a condition's syntax tree, as the compiler reads it. */
export type Node = ASTNode

export interface ConditionFlaw {
  readonly message: string
  /** Position in the text, from 0. */
  readonly offset: number
  readonly remedy: string
}

/** The longest condition accepted, in characters. */
const MAX_TEXT = 4096

const LIMITS = {
  maxAstNodes: 1000,
  maxDepth: 32,
  maxListElements: 500,
  maxMapEntries: 100,
  maxCallArguments: 16,
}

const REQUEST = {
  id: 'string',
  method: 'string',
  path: 'string',
  host: 'string',
  scheme: 'string',
  contentLength: 'int',
  header: 'map<string, string>',
  query: 'map<string, string>',
  cookie: 'map<string, string>',
  params: 'map<string, string>',
}
const CLIENT = {
  ip: 'string',
  certSubject: 'string',
  certIssuer: 'string',
  certNames: 'list<string>',
  certSerial: 'string',
  certFingerprint: 'string',
}
const CONSUMER = {
  id: 'string',
  name: 'string',
  auth: 'string',
  credential: 'string',
  groups: 'list<string>',
  roles: 'list<string>',
  scopes: 'list<string>',
  claims: 'map<string, string>',
}
const JWT = { claims: 'map<string, string>' }
const RESPONSE = { status: 'int', header: 'map<string, string>' }
const UPSTREAM = { name: 'string', target: 'string', status: 'int' }
const API = { name: 'string', group: 'string', revision: 'string' }
const FAILURE = { code: 'string', policy: 'string' }
/** Milliseconds. */
const TIMES = { total: 'int' }

/** The fields of each variable, for suggestions. */
const FIELDS: readonly string[] = [
  { ...REQUEST, body: 'Body' },
  ...[CLIENT, CONSUMER, JWT, RESPONSE, UPSTREAM, API, FAILURE, TIMES],
].flatMap((fields) => Object.keys(fields))
const ROUTE_NAMES = ['req', 'client', 'env']
const POLICY_NAMES = [...ROUTE_NAMES, 'consumer', 'jwt', 'vars', 'res', 'upstream']
const NAMES: Readonly<Record<ConditionScope, readonly string[]>> = {
  route: ROUTE_NAMES,
  policy: POLICY_NAMES,
  record: [...POLICY_NAMES, 'result', 'route', 'api', 'error', 't'],
  value: [...POLICY_NAMES, 'route', 'api'],
}

const ENVIRONMENTS: Readonly<Record<ConditionScope, Environment>> = {
  route: requestEnvironment({ ...REQUEST, body: 'Body' }),
  policy: responseEnvironment({ ...REQUEST, body: 'Body' }),
  record: responseEnvironment(REQUEST)
    .registerVariable('result', 'string')
    .registerVariable('route', 'string')
    .registerVariable('api', { schema: API })
    .registerVariable('error', { schema: FAILURE })
    .registerVariable('t', { schema: TIMES }),
  value: responseEnvironment({ ...REQUEST, body: 'Body' })
    .registerVariable('route', 'string')
    .registerVariable('api', { schema: API }),
}

function responseEnvironment(request: Readonly<Record<string, string>>): Environment {
  return requestEnvironment(request)
    .registerVariable('consumer', { schema: CONSUMER })
    .registerVariable('jwt', { schema: JWT })
    .registerVariable('vars', 'map<string, string>')
    .registerVariable('res', { schema: RESPONSE })
    .registerVariable('upstream', { schema: UPSTREAM })
}

function requestEnvironment(request: Readonly<Record<string, string>>): Environment {
  const never = (): never => {
    throw new Error('conditions are compiled, never evaluated here')
  }
  return new Environment({ unlistedVariablesAreDyn: false, limits: LIMITS })
    .registerType('Body', { fields: {} })
    .registerFunction('Body.json(string): dyn', never)
    .registerFunction('Body.xml(string): dyn', never)
    .registerFunction('Body.xml(string, map<string, string>): dyn', never)
    .registerVariable('req', { schema: request })
    .registerVariable('client', { schema: CLIENT })
    .registerVariable('env', 'map<string, string>')
    .registerFunction('inCidr(string, string): bool', never)
    .registerFunction('inCidr(string, list<string>): bool', never)
    .registerFunction('lower(string): string', never)
    .registerFunction('upper(string): string', never)
}

/** Parses and type-checks a condition. The library of this file is known to no other. */
export function parseCondition(text: string, scope: ConditionScope): Node | ConditionFlaw {
  if (text.length > MAX_TEXT) {
    return flaw(
      `the condition is longer than ${MAX_TEXT} characters`,
      0,
      'split it over several routes or policies',
    )
  }
  try {
    const parsed = ENVIRONMENTS[scope].parse(text)
    const checked = parsed.check()
    if (!checked.valid) return explain(checked.error!, text, scope)
    const type = checked.type ?? 'unknown'
    if (scope === 'value') return VALUE_TYPES.has(type) ? parsed.ast : notValue(type)
    return type === 'bool' ? parsed.ast : notBool(type)
  } catch (error) {
    return explain(error as ParseError, text, scope)
  }
}

/** Whether the answer of `parseCondition` is a flaw. */
export function isFlaw(result: Node | ConditionFlaw): result is ConditionFlaw {
  return 'remedy' in result
}

/** What `value` may give. */
const VALUE_TYPES: ReadonlySet<string> = new Set(['string', 'int', 'double', 'bool', 'dyn'])

function notValue(type: string): ConditionFlaw {
  return flaw(`the expression gives ${type}, not a text or a number`, 0, 'choose one of its entries')
}

function notBool(type: string): ConditionFlaw {
  return flaw(`the condition gives ${type}, not true or false`, 0, 'compare the value, for example with ==')
}

function explain(error: ParseError | CheckError, text: string, scope: ConditionScope): ConditionFlaw {
  const offset = error.range?.start ?? 0
  const summary = lowerFirst(error.summary ?? 'the condition is not valid')
  const name = /(?:unknown variable|no such key): (\S+)/.exec(summary)?.[1]
  if (name !== undefined && HYPHENATED.test(text.slice(0, offset)))
    return flaw(summary, offset, 'quote a name that has a hyphen, for example req.header["x-name"]')
  if (name !== undefined) return flaw(summary, offset, nameRemedy(name, summary, scope))
  if (error.code === 'invalid_macro_argument')
    return flaw(summary, offset, "write has(req.header.name) or 'name' in req.header")
  return flaw(summary, offset, 'see docs/guides/conditions.md for what can be written')
}

/** The text before an unknown variable that is the end of a name with a hyphen, such as `a` in `req.header.x-a`. */
const HYPHENATED = /\w\.[\w-]*-$/

function nameRemedy(name: string, summary: string, scope: ConditionScope): string {
  if (scope === 'route' && POLICY_NAMES.includes(name)) {
    return `${name} is not known yet when a route is chosen; use it in the condition of a policy`
  }
  if (scope === 'record' && name === 'body') return 'a body is not there any more when its record is made'
  if (name === 'ip' && summary.startsWith('unknown') && NAMES[scope].includes('client'))
    return 'write client.ip'
  const known = summary.startsWith('unknown') ? NAMES[scope] : FIELDS
  return suggestion(name, known, `known here: ${known.join(', ')}`)
}

/** The nodes directly below a node. */
export function childrenOf(node: Node): Node[] {
  return nodesIn(node.args)
}

function nodesIn(args: unknown): Node[] {
  if (Array.isArray(args)) return args.flatMap(nodesIn)
  return isNode(args) ? [args] : []
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value
}

function flaw(message: string, offset: number, remedy: string): ConditionFlaw {
  return { message, offset, remedy }
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1)
}
