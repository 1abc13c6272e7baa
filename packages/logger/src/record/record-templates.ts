import type { RouteFacts } from '@sluice/core'
import type { GatewayPart } from './gateway-part.js'
import { jsonText } from './json-text.js'
import { RecurringTemplate } from './recurring-template.js'
import type { SharedTexts } from './shared-texts.js'
import { flag, HOLE, optionalCount } from './template.js'

/** Templates of a route's records. */
interface RouteTemplates {
  /** The gateway in them, which changes with the configuration. */
  readonly gateway: string
  /** By method and result. */
  readonly minimal: RecurringTemplate
  /** By method, version and host. */
  readonly route: RecurringTemplate
}

const BEGIN = `{"@timestamp":"${HOLE.instant}","id":"${HOLE.text}"`
const CLIENT = `"client":{"ip":"${HOLE.text}"${optionalCount(',"port":')}}`
const UPSTREAM = [
  optionalCount(',"status":'),
  `,"attempts":${HOLE.count}`,
  optionalCount(',"retries":'),
  optionalCount(',"failovers":'),
  flag(',"reused":true'),
  HOLE.text,
].join('')

/** Templates of records, in the order of the members. Holes are filled by `writeRecord`. */
export class RecordTemplates {
  readonly #texts: SharedTexts
  readonly #gateway: GatewayPart
  readonly #routes = new WeakMap<RouteFacts, RouteTemplates>()
  /** From the request's content type to the size of the response, by content type, content encoding and user agent. */
  readonly request: RecurringTemplate
  /** The rest of the record, by content type, upstream and target. */
  readonly response: RecurringTemplate

  constructor(texts: SharedTexts, gateway: GatewayPart) {
    this.#texts = texts
    this.#gateway = gateway
    this.request = new RecurringTemplate(
      texts,
      (type, encoding, agent) =>
        `${member('ct', type)}${member('encoding', encoding)}}${member('ua', agent)}${HOLE.text}` +
        `,"res":{"status":${HOLE.count}${optionalCount(',"bytes_h":')},"bytes_b":${HOLE.count}`,
    )
    this.response = new RecurringTemplate(
      texts,
      (type, upstream, target) =>
        `${member('ct', type)}}${upstreamPart(upstream, target)},"t":{"total":${HOLE.micros}${HOLE.phases}}` +
        `,"result":"${HOLE.text}"${HOLE.text}}`,
    )
  }

  /** Returns the template of a whole record with the fewest members. */
  minimal(route: RouteFacts): RecurringTemplate {
    return this.#of(route).minimal
  }

  /** Returns the template from the beginning to the size of the request. */
  route(route: RouteFacts): RecurringTemplate {
    return this.#of(route).route
  }

  #of(route: RouteFacts): RouteTemplates {
    const gateway = this.#gateway.text(route.configDigest)
    const known = this.#routes.get(route)
    if (known !== undefined && known.gateway === gateway) return known
    const templates = this.#make(route, gateway)
    this.#routes.set(route, templates)
    return templates
  }

  #make({ id, api, template }: RouteFacts, gateway: string): RouteTemplates {
    const identity =
      `${member('route', id) || ',"route":""'}` +
      `${member('api', api?.name)}${member('group', api?.group)}${member('revision', api?.revision)}`
    return {
      gateway,
      minimal: new RecurringTemplate(
        this.#texts,
        (method, result) =>
          `${BEGIN}${identity},${CLIENT},"http":{"method":"${jsonText(method)}"},"url":{"path":"${HOLE.text}"}` +
          `,"res":{"status":${HOLE.count}},"t":{"total":${HOLE.micros}},"result":"${result}"${HOLE.text}}`,
      ),
      route: new RecurringTemplate(
        this.#texts,
        (method, version, host) =>
          `${BEGIN}${HOLE.text}${gateway}${identity},${CLIENT}` +
          `,"http":{"method":"${jsonText(method)}","version":"${version}"}` +
          `,"url":{"host":"${jsonText(host)}","path":"${HOLE.text}"${member('template', template)}${HOLE.text}}` +
          `,"req":{"bytes_h":${HOLE.count},"bytes_b":${HOLE.count}`,
      ),
    }
  }
}

function upstreamPart(upstream: string, target: string): string {
  return upstream === '' ? '' : `,"up":{"name":"${jsonText(upstream)}"${member('addr', target)}${UPSTREAM}}`
}

/** Returns a member of an object, or an empty string without a value. */
function member(name: string, value: string | null | undefined): string {
  return value === '' || value === null || value === undefined ? '' : `,"${name}":"${jsonText(value)}"`
}
