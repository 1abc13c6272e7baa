import type { Tier } from '@sluice/gateway'
import type { ObjectIdentity } from './object.js'

/** A part of an object in Kubernetes syntax, such as a toleration. */
export type Verbatim = Readonly<Record<string, unknown>>

/** Kubernetes settings that override the generated objects. The chart uses the same names. */
export interface PlatformSettings {
  readonly strategy?: Verbatim
  readonly topologySpreadConstraints?: readonly Verbatim[]
  readonly initContainers?: readonly Verbatim[]
  /** Additional containers of the pod. */
  readonly sidecars?: readonly Verbatim[]
  /** Times and thresholds that override single defaults of a probe. */
  readonly startupProbe?: Verbatim
  readonly readinessProbe?: Verbatim
  readonly livenessProbe?: Verbatim
  /** Replaces the default `preStop` sleep before SIGTERM. */
  readonly lifecycle?: Verbatim
  readonly terminationGracePeriodSeconds?: number
  readonly dnsPolicy?: string
  readonly dnsConfig?: Verbatim
  readonly envFrom?: readonly Verbatim[]
  /** Request and limit of ephemeral storage, in addition to the resources of the tier. */
  readonly ephemeralStorage?: string
  /** Size limit of `/tmp`; absent for no limit. */
  readonly tmpSizeLimit?: string
}

/** Settings for the generated objects. Defaults are the same as in the Helm chart. */
export interface ObjectSettings extends ObjectIdentity, PlatformSettings {
  /** Container image, for example `registry.example/sluice:1.0`. */
  readonly image: string
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never'
  readonly imagePullSecrets?: readonly string[]
  /** Pod size. It sets the resources, which determine the number of workers and their heap size. */
  readonly tier: Tier
  /** Overrides the resources of the tier. */
  readonly resources?: Resources
  /** Number of pods, or the minimum with autoscaling. */
  readonly replicas: number
  readonly autoscaling?: Autoscaling
  /**
   * Secret with the values of `${env:NAME}` under the key NAME. Files with relative paths use their path as the key, with
   * `.` instead of `/`. Secret values are never part of the generated objects.
   */
  readonly secret?: string
  /** Secrets for the files of a folder, for example `{ tls: 'gateway-tls' }`. The keys are the file names. */
  readonly fileSecrets?: Readonly<Record<string, string>>
  /**
   * SHA-256 of the document of the last pod replacement. The default is this document, so that a changed document
   * replaces the pods. With the current value of the Deployment, a changed document keeps the pods.
   */
  readonly replacedFor?: string
  /** Controller that the pods get their document from, instead of a ConfigMap. */
  readonly control?: ControllerSettings
  /** Audience of a service account token at `/var/run/secrets/vault/token`, for the login to Vault. */
  readonly vaultAudience?: string
  readonly network?: NetworkSettings | null
  /** Null for no PodDisruptionBudget. */
  readonly disruptionBudget?: DisruptionBudget | null
  readonly service?: ServiceSettings
  /** Settings of ServiceMonitor and PrometheusRule, which need the Prometheus operator; absent for neither. */
  readonly monitoring?: MonitoringSettings
  /** Volume of the working directory, for traffic log and spool; default: an emptyDir of sufficient size. */
  readonly dataVolume?: Verbatim
  readonly extraEnv?: readonly (Verbatim & { readonly name: string })[]
  readonly extraVolumes?: readonly Verbatim[]
  readonly extraVolumeMounts?: readonly Verbatim[]
  readonly podAnnotations?: Readonly<Record<string, string>>
  readonly podLabels?: Readonly<Record<string, string>>
  readonly nodeSelector?: Readonly<Record<string, string>>
  readonly tolerations?: readonly Verbatim[]
  readonly affinity?: Verbatim
  readonly priorityClassName?: string
}

/** Connection of pods to a controller. It identifies them by a token or by a client certificate. */
export interface ControllerSettings {
  readonly url: string
  readonly group: string
  /** Secret with the key `token`. */
  readonly tokenSecret?: string
  /** Secret with `tls.crt` and `tls.key`. */
  readonly tlsSecret?: string
  /** Secret with `ca.crt`, for a controller whose certificate has a private authority. */
  readonly caSecret?: string
}

/** Number of pods that a node drain may evict (`maxUnavailable`) or must keep (`minAvailable`). */
export type DisruptionBudget =
  | { readonly maxUnavailable: number | string }
  | { readonly minAvailable: number | string }

/** Autoscaling settings. */
export interface Autoscaling {
  readonly maxReplicas: number
  /** Percentage of the requested CPU; default 70. */
  readonly cpuPercent?: number
  /** Target for `gw_requests_in_flight` per pod, which needs a metrics adapter; absent to ignore this metric. */
  readonly requestsInFlight?: number
  /** Scaling speed, in the syntax of a HorizontalPodAutoscaler. */
  readonly behavior?: Verbatim
}

/** Settings of the NetworkPolicy, in addition to the rules derived from the document. */
export interface NetworkSettings {
  /** Peers that may connect to the listeners; absent or empty for all. */
  readonly clients?: readonly Verbatim[]
  /** Namespace that may connect to metrics and admin API, besides the gateway's own; default `monitoring`. */
  readonly monitoringNamespace?: string
  /** DNS servers; default: the cluster DNS. */
  readonly dns?: readonly Verbatim[]
  /** API servers for `k8s://` targets; absent or empty for any address on the usual ports. */
  readonly apiServer?: readonly Verbatim[]
  /** Additional egress rules, for destinations that are not in the document. */
  readonly egress?: readonly Verbatim[]
}

/** Settings of the Service. */
export interface ServiceSettings {
  readonly type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer'
  readonly annotations?: Readonly<Record<string, string>>
  /** `Local` preserves client addresses and avoids nodes without a pod. */
  readonly externalTrafficPolicy?: 'Cluster' | 'Local'
  /** Additional fields of `spec`, see `SERVICE_OPTIONS`. */
  readonly options?: Verbatim
}

/** Settings of the Prometheus operator objects. */
export interface MonitoringSettings {
  /** Labels that the operator's Prometheus uses to select monitors and rules. */
  readonly labels?: Readonly<Record<string, string>>
  readonly interval?: string
}

/** Resource requests and limits of a container, in Kubernetes syntax. */
export interface Resources {
  readonly requests?: Readonly<Record<string, string>>
  readonly limits?: Readonly<Record<string, string>>
}

/** CPUs and memory (MiB) of a pod by tier. The gateway reads both from its cgroup to set workers and heap sizes. */
export const TIERS: Readonly<Record<Tier, { readonly cpus: number; readonly memoryMib: number }>> = {
  W1: { cpus: 1, memoryMib: 2048 },
  W2: { cpus: 2, memoryMib: 2048 },
  W4: { cpus: 4, memoryMib: 4096 },
  W8: { cpus: 8, memoryMib: 8192 },
}

/** Returns the resources of a tier. Requests equal limits, so that pods get the QoS class Guaranteed. */
export function tierResources(tier: Tier, ephemeralStorage?: string): Resources {
  const { cpus, memoryMib } = TIERS[tier]
  const storage = ephemeralStorage === undefined ? {} : { 'ephemeral-storage': ephemeralStorage }
  const amounts = { cpu: String(cpus), memory: `${memoryMib / 1024}Gi`, ...storage }
  return { requests: amounts, limits: amounts }
}
