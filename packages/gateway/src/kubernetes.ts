export {
  type ApiAnswer,
  ApiClient,
  type ApiRequest,
  ApiUnreachable,
  statusMessage,
} from './kubernetes/api-client.js'
export {
  AccessError,
  type ClusterAccess,
  type Credentials,
  inClusterAccess,
} from './kubernetes/cluster-access.js'
export { type ExecConfig, kubeconfigAccess } from './kubernetes/kubeconfig.js'
