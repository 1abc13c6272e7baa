import { Type } from '@sinclair/typebox'
import { filePath, object } from './build.js'

/** Schema of the Kubernetes cluster that is used for service discovery. */
export const kubernetesSchema = object(
  {
    kubeconfig: filePath(
      'Kubeconfig file with the API server, its CA, and a token or client certificate. Credential plugins (`exec`) are not supported.',
    ),
    context: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: 'Context of the kubeconfig file. Absent: its current context.',
      }),
    ),
  },
  {
    description:
      'Kubernetes cluster that is used to discover targets such as `k8s://orders.default:8080`. Absent: the cluster that the gateway runs in, with the service account of its pod.',
  },
)
