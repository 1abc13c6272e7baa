/** A port of a Kubernetes Service, as its EndpointSlices describe it. */
export interface ServicePlan {
  readonly name: string
  readonly namespace: string
  /** Pod port number, or name of the port in the Service. */
  readonly port: string
}

/** Access to the Kubernetes API for a gateway outside of the cluster. */
export interface KubernetesPlan {
  readonly kubeconfig: string
  /** Context name, or null for the current context of the file. */
  readonly context: string | null
}
