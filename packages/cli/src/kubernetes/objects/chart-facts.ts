import type { Tier } from '@sluice/gateway'
import { CONTROLLED } from './controller.js'
import { documentFacts, fitsConfigMap } from './document-facts.js'
import { referencedFiles, refuseSecrets } from './document-files.js'
import { alertRules } from './monitoring.js'
import {
  API_SERVER_PORTS,
  CLUSTER_DNS,
  DNS_PORTS,
  documentEgress,
  portOf,
  SERVICE_OPTIONS,
  servicePorts,
} from './network.js'
import { clientPorts, containerPorts, probedPort, supervisorPorts } from './ports.js'
import { BEHAVIOR } from './scaling.js'
import { TIERS, tierResources } from './settings.js'
import {
  gracePeriodSeconds,
  lowPorts,
  preStopSeconds,
  probes,
  SPREAD,
  SPREAD_OVER,
  STRATEGY,
  sleepBefore,
  storageSizeLimit,
} from './workload.js'

/** Values of the Helm chart that follow from a document. */
export interface ChartValues {
  readonly document: string
  /** Data for the templates, in the terms of `templates/_facts.tpl`. */
  readonly facts: object
}

/**
 * Returns a document and its facts as values of the Helm chart. A document that is too large for a ConfigMap is left
 * out: its facts are enough for pods that get it from a controller.
 * @throws ObjectsError if the document is incomplete; the message includes the fix
 */
export function chartValues(text: string): ChartValues {
  // YAML block literals, and the template of the ConfigMap, end with one line break.
  const document = text.replace(/\n?$/, '\n')
  const facts = documentFacts(document)
  refuseSecrets(facts)
  const { metricsPort, serviceNamespaces, variables } = facts
  return {
    document: fitsConfigMap(facts) ? document : '',
    facts: {
      documentSha256: facts.sha256,
      containerPorts: containerPorts(facts),
      servicePorts: servicePorts(facts),
      listenerPorts: clientPorts(facts).map(({ port }) => portOf(port)),
      supervisorPorts: supervisorPorts(facts).map(({ port }) => portOf(port)),
      metricsPort,
      probes: probes(probedPort(facts)),
      sysctls: lowPorts(facts),
      lifecycle: sleepBefore(preStopSeconds(facts)) ?? {},
      gracePeriodSeconds: gracePeriodSeconds(facts),
      sizeLimit: storageSizeLimit(facts),
      variables,
      files: referencedFiles(facts),
      serviceNamespaces,
      logsInToVault: facts.logsInToVault,
      egress: documentEgress(facts),
    },
  }
}

/** Returns the defaults of the chart that do not depend on a document. Its templates read them from a file. */
export function chartDefaults(): object {
  const tiers = Object.keys(TIERS) as Tier[]
  return {
    strategy: STRATEGY,
    behavior: BEHAVIOR,
    spread: SPREAD_OVER.map((topologyKey) => ({ ...SPREAD, topologyKey })),
    serviceOptions: SERVICE_OPTIONS,
    controlled: CONTROLLED,
    tiers: Object.fromEntries(tiers.map((tier) => [tier, tierResources(tier).limits])),
    dns: CLUSTER_DNS,
    dnsPorts: DNS_PORTS,
    apiServerPorts: API_SERVER_PORTS,
    // The template replaces these names.
    alertRules: alertRules({ name: '@NAME@', namespace: '@NAMESPACE@' }),
  }
}
