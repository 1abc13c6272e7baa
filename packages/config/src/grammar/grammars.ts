import { isIP } from 'node:net'
import { isFieldValue, isHopByHop, isToken, parseCidr } from '@sluice/core'
import { type ConditionScope, checkCondition } from '../condition/index.js'
import { type Issue, isIssue } from '../diagnostic/issue.js'
import type { HashKey, RequestMatch } from '../plan/plan.js'
import { parseAddress } from './address.js'
import { parseHost, parseHostPattern } from './host.js'
import { parseServiceAddress } from './kubernetes-service.js'
import { parseLiteralPath, parsePathPattern, parsePathTemplate } from './path-pattern.js'
import { examineRegex } from './regex.js'
import { parseTarget } from './target.js'
import {
  parseBroker,
  parseCacheUrl,
  parseControlUrl,
  parseProxyUrl,
  parseRedisUrl,
  parseServiceUrl,
} from './url.js'

/** The syntax of one kind of string. */
export interface Grammar {
  /** Noun phrase for valid strings, to complete "must be …". */
  readonly expects: string
  /** Returns the problem with a string, or null. */
  examine(text: string): Issue | null
}

/** Creates a grammar from a parser that returns an issue for invalid strings. */
export function grammarOf(expects: string, read: (text: string) => unknown): Grammar {
  return {
    expects,
    examine: (text) => {
      const result = read(text)
      return isIssue(result) ? result : null
    },
  }
}

/** Grammars that the document schema refers to (keyword `grammar`). */
export const GRAMMARS = {
  address: grammarOf('a listen address such as 127.0.0.1:8080', parseAddress),
  host: grammarOf('a host such as api.example.com', parseHost),
  'host-pattern': grammarOf('a host such as api.example.com or *.example.com', parseHostPattern),
  'host-rewrite': grammarOf('keep, upstream or a host such as api.example.com', parseHostRewrite),
  'ip-range': grammarOf('an address range such as 10.0.0.0/8', readIpRange),
  'target-url': grammarOf('a target URL such as http://10.0.0.5:9000', parseTarget),
  'kubernetes-service': grammarOf(
    'a Kubernetes Service such as k8s://orders.default:8080',
    parseServiceAddress,
  ),
  'dns-name': grammarOf('an SRV name such as _http._tcp.orders.example', readDnsName),
  'dns-server': grammarOf('a name server address such as 10.0.0.2:53', readDnsServer),
  'proxy-url': grammarOf('a proxy URL such as http://10.0.0.9:3128', parseProxyUrl),
  'http-url': grammarOf('a URL such as http://127.0.0.1:9200', (text) =>
    parseServiceUrl(text, ['http', 'https']),
  ),
  'syslog-url': grammarOf('a URL such as udp://127.0.0.1:514', (text) =>
    parseServiceUrl(text, ['udp', 'tcp', 'tls']),
  ),
  'kafka-broker': grammarOf('a broker address such as kafka-1:9092', parseBroker),
  'redis-url': grammarOf('a URL such as redis://127.0.0.1:6379', parseRedisUrl),
  'cache-url': grammarOf('a URL such as http://127.0.0.1:9910', parseCacheUrl),
  'control-url': grammarOf('a URL such as https://control.example.com:9443', parseControlUrl),
  'path-pattern': grammarOf('a path such as /orders/*', parsePathPattern),
  'path-template': grammarOf('a path such as /v2/orders/{id}', parsePathTemplate),
  path: grammarOf('a path such as /v2/orders', parseLiteralPath),
  regex: grammarOf('a regular expression', examineRegex),
  method: grammarOf('a method such as GET', readMethod),
  'field-name': grammarOf('a header name', readFieldName),
  'predicate-name': grammarOf('a header name', readPredicateName),
  'sent-field-name': grammarOf('a header name', readSentFieldName),
  'reply-field-name': grammarOf('a header name', readReplyFieldName),
  'field-value': grammarOf('a header value', readFieldValue),
  'hash-key': grammarOf('header:NAME, cookie:NAME, claim:NAME, consumer or ip', parseHashKey),
  'request-match': grammarOf('header:NAME, cookie:NAME, or one of them with =VALUE', parseRequestMatch),
  'route-condition': grammarOf('a condition', (text) => readCondition(text, 'route')),
  'policy-condition': grammarOf('a condition', (text) => readCondition(text, 'policy')),
  'record-condition': grammarOf('a condition', (text) => readCondition(text, 'record')),
} as const satisfies Record<string, Grammar>

/** Name of a grammar. */
export type GrammarName = keyof typeof GRAMMARS

/** Parses the key for `balance: hash`. */
export function parseHashKey(text: string): HashKey | Issue {
  if (text === 'ip' || text === 'consumer') return { kind: text }
  const match = /^(header|cookie|claim):(.+)$/.exec(text)
  if (match !== null && match[1] === 'claim') return { kind: 'claim', name: match[2]! }
  if (match === null || !isToken(match[2]!)) {
    return {
      message: `'${text}' is not a hash key`,
      remedy: 'write header:x-user, cookie:sid, claim:sub, consumer or ip',
    }
  }
  if (match[1] === 'cookie') return { kind: 'cookie', name: match[2]! }
  return { kind: 'header', name: match[2]!.toLowerCase() }
}

/** Parses a header or cookie that a request must have. */
export function parseRequestMatch(text: string): RequestMatch | Issue {
  const match = /^(header|cookie):([^=]+)(?:=(.*))?$/.exec(text)
  if (match === null || !isToken(match[2]!)) {
    return {
      message: `'${text}' is not a header or cookie match`,
      remedy: 'write header:x-canary or cookie:canary=1',
    }
  }
  const value = match[3] ?? null
  if (match[1] === 'cookie') return { kind: 'cookie', name: match[2]!, value }
  return { kind: 'header', name: match[2]!.toLowerCase(), value }
}

function readDnsName(text: string): Issue | null {
  const isName = text.length <= 253 && /^[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*$/.test(text)
  return isName
    ? null
    : { message: `'${text}' is not an SRV name`, remedy: 'write for example _http._tcp.orders.example' }
}

function readDnsServer(text: string): Issue | null {
  const [, v6, v4, port] = /^(?:\[(.+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  const isServer = isIP(v6 ?? v4 ?? '') !== 0 && Number(port ?? 53) <= 65_535
  if (isServer || isIP(text) === 6) return null
  return { message: `'${text}' is not a name server address`, remedy: 'write for example 10.0.0.2:53' }
}

function parseHostRewrite(text: string): string | Issue {
  const match = /^(.*?)(?::(\d{1,5}))?$/.exec(text)
  const host = parseHost(match?.[1] ?? '')
  if (typeof host === 'string' && Number(match?.[2] ?? 0) <= 65_535) return text
  return {
    message: `'${text}' is not a Host value`,
    remedy: 'write keep, upstream, or a host such as api.example.com',
  }
}

function readIpRange(text: string): Issue | null {
  try {
    parseCidr(text)
    return null
  } catch {
    return {
      message: `'${text}' is not an address range`,
      remedy: 'write for example 10.0.0.0/8 or 2001:db8::/32',
    }
  }
}

function readMethod(text: string): Issue | null {
  if (isToken(text) && text.length <= 32) return null
  return { message: `'${text}' is not a method`, remedy: 'write for example GET or POST' }
}

function readFieldName(text: string): Issue | null {
  if (isToken(text) && text.length <= 256) return null
  return { message: `'${text}' is not a header name`, remedy: 'use letters, digits and hyphens' }
}

/** Rejects header fields that health checks cannot send. */
function readSentFieldName(text: string): Issue | null {
  const name = text.toLowerCase()
  if (name === 'host') return { message: "the header 'host' cannot be set here", remedy: 'use the key host' }
  if (isHopByHop(name) || name === 'content-length')
    return { message: `the header '${text}' is connection-specific and cannot be set`, remedy: 'remove it' }
  return readFieldName(text)
}

/** Rejects header fields that a route cannot see: a predicate on them would match never, or always. */
function readPredicateName(text: string): Issue | null {
  const name = text.toLowerCase()
  if (name === 'host')
    return { message: "the header 'host' cannot be matched here", remedy: 'use match.hosts' }
  if (isHopByHop(name) || name === 'content-length') {
    return {
      message: `the header '${text}' is connection-specific and cannot be matched`,
      remedy: 'remove it',
    }
  }
  return readFieldName(text)
}

function readReplyFieldName(text: string): Issue | null {
  const name = text.toLowerCase()
  if (!isHopByHop(name) && name !== 'content-length') return readFieldName(text)
  return { message: `the header '${text}' is set by the gateway itself`, remedy: 'remove it' }
}

function readFieldValue(text: string): Issue | null {
  if (isFieldValue(text) && text.trim() === text) return null
  return {
    message: 'a header value may only contain visible ASCII characters, with spaces between them',
    remedy: 'remove the other characters',
  }
}

function readCondition(text: string, scope: ConditionScope): Issue | null {
  const checked = checkCondition(text, scope)
  return checked.ok ? null : { message: checked.message, remedy: checked.remedy, offset: checked.offset }
}
