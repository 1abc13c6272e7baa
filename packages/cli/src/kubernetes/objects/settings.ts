import type { Tier } from '@sluice/gateway'
import type { ObjectIdentity } from './object.js'
import type { Resources } from './tiers.js'

/** A part of an object that its user writes as Kubernetes has it, such as a toleration. */
export type Verbatim = Readonly<Record<string, unknown>>

/** Kubernetes settings that override the generated objects. The chart uses the same names. */
export interface PlatformSettings {
  readonly strategy?: Verbatim
  readonly topologySpreadConstraints?: readonly Verbatim[]
  readonly initContainers?: readonly Verbatim[]
  /** Containers beside the gateway. */
  readonly sidecars?: readonly Verbatim[]
  /** Times and thresholds of a probe, which replace single ones of ours. */
  readonly startupProbe?: Verbatim
  readonly readinessProbe?: Verbatim
  readonly livenessProbe?: Verbatim
  /** Replaces the default `preStop` sleep before SIGTERM. */
  readonly lifecycle?: Verbatim
  readonly terminationGracePeriodSeconds?: number
  readonly dnsPolicy?: string
  readonly dnsConfig?: Verbatim
  readonly envFrom?: readonly Verbatim[]
  /** Request and limit of ephemeral storage, beside the CPUs and the memory of the tier. */
  readonly ephemeralStorage?: string
  /** Size of `/tmp`; absent: without a limit. */
  readonly tmpSizeLimit?: string
}

/** What the objects are made for, beside the document. What may be absent has the same default as the Helm chart. */
export interface ObjectSettings extends ObjectIdentity, PlatformSettings {
  /** Such as `registry.example/sluice:1.0`. */
  readonly image: string
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never'
  readonly imagePullSecrets?: readonly string[]
  /** Decides resources, and with them the number of workers and their heaps. */
  readonly tier: Tier
  /** In place of those of the tier. */
  readonly resources?: Resources
  /** The least, where there is autoscaling. */
  readonly replicas: number
  readonly autoscaling?: Autoscaling
  /**
   * The Secret that holds the values of `${env:NAME}` under NAME and those of relative files under their path with
   * `.` in place of `/`. No value is ever in an object.
   */
  readonly secret?: string
  /** Other Secrets for the files of a folder of the document, such as `{ tls: 'gateway-tls' }`; their keys are the names of the files. */
  readonly fileSecrets?: Readonly<Record<string, string>>
  /**
   * SHA-256 of the document for whose sake pods were replaced last; default: this document, so that a change of it replaces
   * them. With the value that the Deployment has, the same objects change no pod.
   */
  readonly replacedFor?: string
  readonly network?: NetworkSettings | null
  /** Null: no PodDisruptionBudget. */
  readonly disruptionBudget?: DisruptionBudget | null
  readonly service?: ServiceSettings
  /** Absent: no ServiceMonitor and no PrometheusRule, which need the Prometheus operator in the cluster. */
  readonly monitoring?: MonitoringSettings
  /** Where the working directory lies, with the traffic log and its spool; default: an emptyDir with room for both. */
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

/** Number of pods that a node drain may evict (`maxUnavailable`) or must keep (`minAvailable`). */
export type DisruptionBudget =
  | { readonly maxUnavailable: number | string }
  | { readonly minAvailable: number | string }

/** When pods are added and removed. */
export interface Autoscaling {
  readonly maxReplicas: number
  /** Percentage of the requested CPU; default 70. */
  readonly cpuPercent?: number
  /** Requests in flight of a pod (`gw_requests_in_flight`, which an adapter has to bring into the metrics API); absent: not looked at. */
  readonly requestsInFlight?: number
  /** Scaling speed, in the syntax of a HorizontalPodAutoscaler. */
  readonly behavior?: Verbatim
}

/** Who may connect to the pods, and where they may connect to beside what the document says. */
export interface NetworkSettings {
  /** Peers that reach the listeners; absent or empty: everybody. */
  readonly clients?: readonly Verbatim[]
  /** The namespace whose pods reach metrics and admin API, beside that of the gateway; default `monitoring`. */
  readonly monitoringNamespace?: string
  /** Peers that answer DNS; default: the DNS of the cluster. */
  readonly dns?: readonly Verbatim[]
  /** Peers that are the API server, for `k8s://` targets; absent or empty: its ports everywhere. */
  readonly apiServer?: readonly Verbatim[]
  /** Further rules, for what the document does not tell. */
  readonly egress?: readonly Verbatim[]
}

/** How the Service is offered. */
export interface ServiceSettings {
  readonly type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer'
  readonly annotations?: Readonly<Record<string, string>>
  /** `Local` keeps the addresses of clients, and sends nothing to nodes without a pod. */
  readonly externalTrafficPolicy?: 'Cluster' | 'Local'
  /** Further fields of its `spec`, see SERVICE_OPTIONS. */
  readonly options?: Verbatim
}

/** How Prometheus finds the pods. */
export interface MonitoringSettings {
  /** Labels by which the operator's Prometheus chooses monitors and rules. */
  readonly labels?: Readonly<Record<string, string>>
  readonly interval?: string
}
