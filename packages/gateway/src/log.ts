export { type Shipping, shippingOf } from './worker/open-sink.js'
