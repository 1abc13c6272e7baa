import type { ServicePlan } from '@sluice/config'
import type { ApiClient } from '../../kubernetes/api-client.js'
import { endpointsOf, type ServiceAnswer, type ServiceEndpoint } from '../../kubernetes/endpoint-slices.js'
import { SliceWatch, type WatchTimes } from '../../kubernetes/slice-watch.js'
import type { OperationLog } from '../../telemetry/operation-log.js'

/** Known state of a Service. */
export interface ServiceStatus {
  readonly service: ServicePlan
  readonly endpoints: readonly ServiceEndpoint[]
  /** Reason why there are no pods or why they may be outdated, or null. */
  readonly problem: string | null
  /** Time since the API server was last reached, in milliseconds; 0 while it is reachable. */
  readonly staleMs: number
}

interface WatchedServiceDependencies {
  readonly client: ApiClient
  readonly times?: WatchTimes
  /** Called when its pods change. */
  readonly onChange: () => void
  readonly log: OperationLog
}

const UNKNOWN: ServiceAnswer = { endpoints: [], problem: 'the API server has not answered yet' }

/**
 * A port of a Service, watched while a plan uses it. The last known pods stay valid while the API server is
 * unreachable.
 */
export class WatchedService {
  /** Resolves with the first answer or failure of the API server. */
  readonly answered: Promise<void>
  readonly #service: ServicePlan
  readonly #dependencies: WatchedServiceDependencies
  readonly #watch: SliceWatch
  readonly #startedMono = performance.now()
  #answer = UNKNOWN
  /** Reason why the API server is unreachable, or null. */
  #failure: string | null = null
  #failedMono = 0
  #settle: () => void = () => {}
  failures = 0

  constructor(service: ServicePlan, dependencies: WatchedServiceDependencies) {
    this.#service = service
    this.#dependencies = dependencies
    this.answered = new Promise((resolve) => {
      this.#settle = resolve
    })
    const listener = {
      onSlices: (slices: Parameters<typeof endpointsOf>[1]) => this.#learn(endpointsOf(service, slices)),
      onFailure: (reason: string) => this.#fail(reason),
    }
    this.#watch = new SliceWatch(dependencies.client, service, listener, dependencies.times)
  }

  get status(): ServiceStatus {
    const { endpoints, problem } = this.#answer
    const isUnheard = this.#failure !== null || this.#answer === UNKNOWN
    const sinceMono = this.#failure === null ? this.#startedMono : this.#failedMono
    const staleMs = isUnheard ? Math.round(performance.now() - sinceMono) : 0
    return { service: this.#service, endpoints, problem: this.#failure ?? problem, staleMs }
  }

  stop(): void {
    this.#watch.stop()
    this.#settle()
  }

  #learn(answer: ServiceAnswer): void {
    const before = this.#answer
    this.#answer = answer
    if (this.#failure !== null) this.#dependencies.log.info('service.heard', this.#facts())
    this.#failure = null
    if (answer.problem !== null && answer.problem !== before.problem)
      this.#dependencies.log.warn('service.empty', { ...this.#facts(), reason: answer.problem })
    if (before === UNKNOWN || textOf(before) !== textOf(answer)) {
      this.#dependencies.log.info('service.changed', this.#facts())
      this.#dependencies.onChange()
    }
    this.#settle()
  }

  #fail(reason: string): void {
    this.failures++
    if (this.#failure === null) {
      this.#failedMono = performance.now()
      this.#dependencies.log.warn('service.unheard', { ...this.#facts(), reason })
    }
    this.#failure = reason
    this.#settle()
  }

  #facts() {
    const { name, namespace, port } = this.#service
    return { service: `${name}.${namespace}:${port}`, endpoints: this.#answer.endpoints.length }
  }
}

function textOf({ endpoints }: ServiceAnswer): string {
  return endpoints.map(({ address, port }) => `${address} ${port}`).join()
}
