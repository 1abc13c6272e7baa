import type { DocumentFacts } from './document-facts.js'
import { type KubernetesObject, metadataOf } from './object.js'
import type { ObjectSettings } from './settings.js'

/** Returns the service account of the pods. Only service discovery gets its token and permissions. */
export function serviceAccount(settings: ObjectSettings): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: metadataOf(settings),
    automountServiceAccountToken: false,
  }
}

/** Returns the permissions to watch EndpointSlices in the namespaces of Services in the document. */
export function discoveryRights(facts: DocumentFacts, settings: ObjectSettings): KubernetesObject[] {
  return facts.serviceNamespaces.flatMap((namespace) => {
    // Gateways with the same name in different namespaces may watch the same namespace.
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
