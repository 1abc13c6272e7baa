import { Type } from '@sinclair/typebox'
import { filePath, object } from './build.js'

/** The cluster whose Services are followed. */
export const kubernetesSchema = object(
  {
    kubeconfig: filePath(
      'The API server, its authority, and the token or client certificate of the gateway. Credentials that a program has to make (`exec`) are refused.',
    ),
    context: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: 'The context of that file. Absent: its current one.',
      }),
    ),
  },
  {
    description:
      'The cluster whose Services targets such as `k8s://orders.default:8080` follow. Absent: the one that the gateway runs in, with the account of its pod.',
  },
)
