import type { DocumentFacts } from './document-facts.js'
import { type KubernetesObject, metadataOf } from './object.js'
import type { ObjectSettings } from './settings.js'

/** The account of the pods. It has no rights, and no pod has its token, but for service discovery. */
export function serviceAccount(settings: ObjectSettings): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: metadataOf(settings),
    automountServiceAccountToken: false,
  }
}

/** The right to follow EndpointSlices, in each namespace whose Services the document names, and nowhere else. */
export function discoveryRights(facts: DocumentFacts, settings: ObjectSettings): KubernetesObject[] {
  return facts.serviceNamespaces.flatMap((namespace) => {
    // Two gateways of the same name may follow the Services of one namespace.
    const name = `${settings.namespace}.${settings.name}`
    const metadata = { ...metadataOf(settings), name, namespace }
    return [
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata,
        rules: [
          { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['get', 'list', 'watch'] },
        ],
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata,
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
        subjects: [{ kind: 'ServiceAccount', name: settings.name, namespace: settings.namespace }],
      },
    ]
  })
}
