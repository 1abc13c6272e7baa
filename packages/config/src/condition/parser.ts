import {
  type ASTNode,
  type TypeError as CheckError,
  Environment,
  type ParseError,
} from '@marcbachmann/cel-js'
import { suggestion } from '../diagnostic/spelling.js'
import { type ConditionIssue, explainSyntax } from './syntax-remedy.js'

/**
 * Purpose of a condition, which decides the variables it may use.
 * - `route`: part of a route's match.
 * - `policy`: decides if a policy runs; may read the response.
 * - `record`: selects records for a log target, after the exchange; bodies are no longer available.
 * - `value`: computes a value for a policy.
 */
export type ConditionScope = 'route' | 'policy' | 'record' | 'value'

/** A node of a condition's syntax tree, as the compiler reads it. */
export type Node = ASTNode

/** Maximum length of a condition, in characters. */
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
/** Times in milliseconds. */
const TIMES = { total: 'int' }

/** Names of all fields of variables, for suggestions. */
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

/** Parses and type-checks a condition. Only this file uses the CEL library. */
export function parseCondition(text: string, scope: ConditionScope): Node | ConditionIssue {
  if (text.length > MAX_TEXT)
    return issue(
      `the condition is longer than ${MAX_TEXT} characters`,
      0,
      'split it into several routes or policies',
    )
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

/** True if the result of `parseCondition` is a problem. */
export function isIssue(result: Node | ConditionIssue): result is ConditionIssue {
  return 'remedy' in result
}

/** Types that a `value` expression may have. */
const VALUE_TYPES: ReadonlySet<string> = new Set(['string', 'int', 'double', 'bool', 'dyn'])

function notValue(type: string): ConditionIssue {
  return issue(`the expression returns ${type}, not a string or a number`, 0, 'select one of its entries')
}

function notBool(type: string): ConditionIssue {
  return issue(
    `the condition returns ${type}, not true or false`,
    0,
    'compare the value, for example with ==',
  )
}

function explain(error: ParseError | CheckError, text: string, scope: ConditionScope): ConditionIssue {
  const offset = error.range?.start ?? 0
  const summary = lowerFirst(error.summary ?? 'the condition is not valid')
  const name = /(?:unknown variable|no such key): (\S+)/.exec(summary)?.[1]
  if (name !== undefined && HYPHENATED.test(text.slice(0, offset)))
    return issue(summary, offset, 'quote names that contain a hyphen, for example req.header["x-name"]')
  if (name !== undefined && !OTHER_WORDS.test(name))
    return issue(summary, offset, nameRemedy(name, summary, scope))
  if (error.code === 'invalid_macro_argument')
    return issue(summary, offset, "write has(req.header.name) or 'name' in req.header")
  return explainSyntax(summary, offset, text)
}

/** Words of other languages that look like unknown variables. */
const OTHER_WORDS = /^(true|false|none|nil|undefined|not)$/i

/**
 * Matches the text before an unknown variable that is the end of a hyphenated name, such as `a` in
 * `req.header.x-a`.
 */
const HYPHENATED = /\w\.[\w-]*-$/

function nameRemedy(name: string, summary: string, scope: ConditionScope): string {
  if (scope === 'route' && POLICY_NAMES.includes(name))
    return `${name} is not available in the condition of a route; use it in the condition of a policy`
  if (scope === 'record' && name === 'body')
    return 'bodies are no longer available when the record is written'
  if (name === 'ip' && summary.startsWith('unknown') && NAMES[scope].includes('client'))
    return 'write client.ip'
  const known = summary.startsWith('unknown') ? NAMES[scope] : FIELDS
  // A method or another word in capitals is most likely a string.
  const isText = /^[A-Z][A-Z0-9_]+$/.test(name)
  if (isText) return `quote it if it is a string: "${name}"`
  return suggestion(name, known, `available names: ${known.join(', ')}`)
}

/** Returns the child nodes of a node. */
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

function issue(message: string, offset: number, remedy: string): ConditionIssue {
  return { message, offset, remedy }
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1)
}
