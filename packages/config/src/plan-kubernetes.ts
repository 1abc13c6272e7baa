/** A port of a Kubernetes Service, as its EndpointSlices describe it. */
export interface ServicePlan {
  readonly name: string
  readonly namespace: string
  /** The number of the port at the pods, or its name in the Service. */
  readonly port: string
}

/** Where the API server is, for a gateway outside of its cluster. */
export interface KubernetesPlan {
  readonly kubeconfig: string
  /** Null: the current one of the file. */
  readonly context: string | null
}
