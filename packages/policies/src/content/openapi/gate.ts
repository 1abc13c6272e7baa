import {
  type Eventual,
  type Exchange,
  headerJoined,
  type Outcome,
  pathWithParameters,
  type Reply,
  refusal,
  type Slot,
  withoutParameters,
} from '@sluice/core'
import { tooLarge } from '../../engines/json/refusals.js'
import { refused, reported, unchecked, unmark } from '../../engines/json-schema/report.js'
import { type Violation, violationsText } from '../../engines/json-schema/violations.js'
import { headersOf, isBodiless, limitBody, type Side } from '../../shared/message/side.js'
import type { BodyCheck, BodyFinding } from './body-check.js'
import type { Media } from './media.js'
import { type Operation, type PathItem, responseFor } from './operation.js'
import type { PathTable } from './path-table.js'
import { checkParts, headerText } from './request-parts.js'

/** Handling of invalid messages. */
export type Mode = 'enforce' | 'report' | 'off'

interface GateSettings {
  readonly paths: PathTable<PathItem>
  readonly slot: Slot<Operation>
  readonly bodies: BodyCheck
  readonly basePath: string
  readonly rejectsUnknownOperation: boolean
  readonly rejectsUnknownQuery: boolean
  readonly modes: Readonly<Record<Side, Mode>>
  readonly status: 400 | 422
  readonly maxErrors: number
  readonly maxBodyBytes: number
}

/** Checks requests and responses against the description. */
export class Gate {
  readonly #settings: GateSettings
  readonly #tooLarge: Reply
  readonly #unknownPath: Reply
  readonly #ambiguousPath: Reply

  constructor(settings: GateSettings) {
    this.#settings = settings
    this.#tooLarge = tooLarge(settings.maxBodyBytes)
    this.#unknownPath = invalid('the path is not described', 404)
    this.#ambiguousPath = invalid('the path is ambiguous: it is another path without its parameters', 404)
  }

  /** Checks everything but the body of a request. */
  begin(x: Exchange): Outcome {
    const { slot, modes, maxBodyBytes } = this.#settings
    unmark(x, 'request')
    const found = this.#find(x)
    if (found === null) return null
    if ('problem' in found) return this.#refuse(x, 'request', found)
    slot.set(x, found.operation)
    if (modes.request === 'enforce') limitBody(x, 'request', maxBodyBytes)
    const { rejectsUnknownQuery: rejectsUnknown, maxErrors } = this.#settings
    const violations = checkParts(x, found.operation, { texts: found.texts, rejectsUnknown })
    return this.#decide(x, 'request', violations.slice(0, maxErrors))
  }

  request(x: Exchange, body: Uint8Array): Eventual {
    const operation = this.#settings.slot.get(x)
    if (operation === undefined) return null
    const described = operation.body
    if (body.length === 0)
      return described?.isRequired ? this.#decide(x, 'request', ['body is required']) : null
    if (described === null) return this.#decide(x, 'request', ['body is not described'])
    return this.#body(x, 'request', [described.media, body])
  }

  /** Checks the status and header fields of a response. */
  beginResponse(x: Exchange): Outcome {
    const { slot, modes, maxBodyBytes } = this.#settings
    unmark(x, 'response')
    const operation = slot.get(x)
    // The description does not cover responses that the gateway creates itself.
    if (operation === undefined || x.upstreamStatus === 0) return null
    if (modes.response === 'enforce') limitBody(x, 'response', maxBodyBytes)
    const response = responseFor(operation, x.status)
    if (response === undefined)
      return this.#decide(x, 'response', [`the status ${x.status} is not described`])
    const { headers } = response
    return headers === null
      ? null
      : this.#decide(
          x,
          'response',
          headers((of, how) => headerText(of, x.responseHeaders, how)).slice(0, this.#settings.maxErrors),
        )
  }

  response(x: Exchange, body: Uint8Array): Eventual {
    const operation = this.#settings.slot.get(x)
    const response = operation === undefined ? undefined : responseFor(operation, x.status)
    if (response === undefined || x.upstreamStatus === 0 || isBodiless(x)) return null
    if (response.media.length === 0 || body.length === 0) return null
    return this.#body(x, 'response', [response.media, body])
  }

  /** Finds the operation of a request. Returns null if the request passes unchecked. */
  #find(
    x: Exchange,
  ): { readonly operation: Operation; readonly texts: ReadonlyMap<string, string> } | Reply | null {
    const { paths, basePath, rejectsUnknownOperation: rejects } = this.#settings
    const isBelow = basePath === '' || x.path.startsWith(`${basePath}/`)
    const path = pathWithParameters(x)
    const plain = isBelow ? paths.find(withoutParameters(path), basePath) : null
    const match = isBelow ? (paths.find(path, basePath) ?? plain) : null
    if (match === null) return rejects ? this.#unknownPath : null
    const operation = match.value.get(x.method) ?? (x.method === 'HEAD' ? match.value.get('GET') : undefined)
    // A servlet container drops the path parameters, other servers keep them. The two paths must not match
    // different entries.
    const isOther = plain !== null && plain.value !== match.value
    if (isOther && operation?.hasMatrix !== true) return this.#ambiguousPath
    if (operation !== undefined) return { operation, texts: match.texts }
    return rejects
      ? invalid('the method is not described', 405, ['allow', [...match.value.keys()].join(', ')])
      : null
  }

  #body(x: Exchange, side: Side, [media, body]: readonly [readonly Media[], Uint8Array]): Eventual {
    const { bodies } = this.#settings
    const type = headerJoined(headersOf(x, side), 'content-type')
    const chosen = bodies.mediaOf(type, media)
    if (typeof chosen === 'string') return this.#refuse(x, side, refusal('GW_MEDIA_TYPE', chosen))
    const finding = bodies.check(x, side, [chosen, body])
    if (finding instanceof Promise) return finding.then((late) => this.#settle(x, side, late))
    return this.#settle(x, side, finding)
  }

  #settle(x: Exchange, side: Side, finding: BodyFinding): Outcome {
    if ('violations' in finding) return this.#decide(x, side, finding.violations)
    if ('unreadable' in finding)
      return this.#refuse(x, side, refusal('GW_BODY_UNPARSABLE', finding.unreadable))
    if ('media' in finding) return this.#refuse(x, side, refusal('GW_MEDIA_TYPE', finding.media))
    if ('tooLarge' in finding) return this.#refuse(x, side, this.#tooLarge)
    return unchecked(x, side, this.#isReport(side))
  }

  #decide(x: Exchange, side: Side, violations: readonly Violation[]): Outcome {
    if (violations.length === 0) return null
    return this.#refuse(x, side, invalid(violationsText(violations), this.#settings.status))
  }

  #refuse(x: Exchange, side: Side, reply: Reply): Outcome {
    return this.#isReport(side) ? reported(x, side, reply) : refused(x, side, reply)
  }

  #isReport(side: Side): boolean {
    return this.#settings.modes[side] === 'report'
  }
}

function invalid(detail: string, status: number, headers: readonly string[] = []): Reply {
  return { ...refusal('GW_SCHEMA_INVALID', detail, headers), status }
}
