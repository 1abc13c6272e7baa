import { setTimeout as sleep } from 'node:timers/promises'
import type { KubernetesPlan, Plan, ServicePlan } from '@sluice/config'
import { ApiClient } from '../../kubernetes/api-client.js'
import { AccessError, type ClusterAccess, inClusterAccess } from '../../kubernetes/cluster-access.js'
import { type KnownService, serviceKey } from '../../kubernetes/known-services.js'
import type { WatchTimes } from '../../kubernetes/slice-watch.js'
import type { OperationLog } from '../../telemetry/operation-log.js'
import type { Sample } from '../../telemetry/sample.js'
import { label } from '../../telemetry/text-format.js'
import { type Preparation, prepared } from '../rollout/preparation.js'
import { type ServiceStatus, WatchedService } from './watched-service.js'

interface ServicesDependencies {
  /** Sends the pods of all Services to the workers, replacing the previous ones. */
  readonly publish: (services: readonly KnownService[]) => Promise<void>
  readonly log: OperationLog
  /** Finds the API server. Defaults to the plan's kubeconfig, otherwise the cluster of this process. */
  readonly access?: (plan: KubernetesPlan | undefined) => Promise<ClusterAccess>
  readonly times?: WatchTimes
}

/**
 * Longest wait of a rollout for the first pods, in milliseconds. After that, requests to an unknown Service
 * are refused with 503.
 */
const FIRST_ANSWER_MS = 3000

/** The watches of one plan. */
interface Generation {
  /** Connection settings of the API server, as JSON. */
  readonly settings: string
  readonly client: ApiClient | null
  readonly watched: ReadonlyMap<string, WatchedService>
}

const NOTHING: Generation = { settings: '', client: null, watched: new Map() }

/**
 * The Kubernetes Services used as targets by the plan. Each is watched once, whatever the number of workers.
 */
export class Services {
  readonly #dependencies: ServicesDependencies
  #serving = NOTHING
  #coming = NOTHING

  constructor(dependencies: ServicesDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Starts watching the Services of a plan that are not watched yet. It takes part in a rollout like the
   * admin API.
   */
  async prepare(plan: Plan): Promise<Preparation> {
    const services = servicesOf(plan)
    const last = this.#serving
    let next: Generation
    try {
      next = services.size === 0 ? NOTHING : await this.#follow(services, plan.kubernetes, last)
    } catch (error) {
      if (!(error instanceof AccessError)) throw error
      return { ok: false, reason: `cannot watch targets with k8s://: ${error.message}` }
    }
    this.#coming = next
    const fresh = [...next.watched].filter(([key, one]) => last.watched.get(key) !== one)
    const answers = fresh.map(([, one]) => one.answered)
    await Promise.race([Promise.all(answers), sleep(FIRST_ANSWER_MS, undefined, { ref: false })])
    await this.#publish()
    const activate = async (): Promise<void> => {
      this.#serving = next
      this.#coming = NOTHING
      this.#leave(last, next)
    }
    const discard = async (): Promise<void> => {
      this.#coming = NOTHING
      this.#leave(next, last)
    }
    return prepared(activate, discard)
  }

  /** Returns the status of a Service, or null if it is not watched. */
  of(service: ServicePlan): ServiceStatus | null {
    return this.#serving.watched.get(serviceKey(service))?.status ?? null
  }

  samples(): Sample[] {
    return [...this.#serving.watched.values()].flatMap((watched) => {
      const { service, endpoints, staleMs } = watched.status
      const labels = label('service', `${service.name}.${service.namespace}:${service.port}`)
      return [
        { name: 'gw_service_endpoints', labels, value: endpoints.length },
        { name: 'gw_service_stale_seconds', labels, value: staleMs / 1000 },
        { name: 'gw_service_watch_failures_total', labels, value: watched.failures },
      ]
    })
  }

  close(): void {
    for (const generation of [this.#serving, this.#coming]) this.#leave(generation, NOTHING)
  }

  async #follow(
    services: ReadonlyMap<string, ServicePlan>,
    plan: KubernetesPlan | undefined,
    last: Generation,
  ): Promise<Generation> {
    const settings = JSON.stringify(plan ?? null)
    const isSame = last.client !== null && last.settings === settings
    const client = isSame ? last.client : new ApiClient(await this.#access(plan))
    const { log, times } = this.#dependencies
    const dependencies = {
      client,
      log,
      onChange: () => void this.#publish(),
      ...(times === undefined ? {} : { times }),
    }
    const watched = new Map<string, WatchedService>()
    for (const [key, service] of services) {
      const known = isSame ? last.watched.get(key) : undefined
      watched.set(key, known ?? new WatchedService(service, dependencies))
    }
    return { settings, client, watched }
  }

  async #access(plan: KubernetesPlan | undefined): Promise<ClusterAccess> {
    if (this.#dependencies.access !== undefined) return this.#dependencies.access(plan)
    if (plan === undefined) return inClusterAccess()
    const { kubeconfigAccess } = await import('../../kubernetes/kubeconfig.js')
    return kubeconfigAccess(plan.kubeconfig, { context: plan.context })
  }

  /** Stops the watches of one plan that the other does not have. */
  #leave(left: Generation, kept: Generation): void {
    for (const [key, watched] of left.watched) if (kept.watched.get(key) !== watched) watched.stop()
    if (left.client !== kept.client) left.client?.close()
  }

  async #publish(): Promise<void> {
    const services = new Map<string, KnownService>()
    for (const { watched } of [this.#serving, this.#coming]) {
      for (const [key, { status }] of watched) {
        const { endpoints, problem } = status
        // A watch on a new API server takes over once it has an answer.
        if (services.has(key) && endpoints.length === 0 && problem !== null) continue
        services.set(key, { key, endpoints })
      }
    }
    await this.#dependencies.publish([...services.values()])
  }
}

function servicesOf({ upstreams }: Plan): Map<string, ServicePlan> {
  const services = upstreams.flatMap(({ targets }) => targets.flatMap(({ service }) => service ?? []))
  return new Map(services.map((service) => [serviceKey(service), service]))
}
