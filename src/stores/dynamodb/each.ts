/**
 * A batch, one write at a time for each address and all addresses at once: DynamoDB has no conditional writes in
 * batches. The order inside an address is that of the batch. The connection bounds how many are on their way.
 */

export async function each<In, Out>(
  inputs: readonly In[],
  placeOf: (input: In) => string,
  work: (input: In) => Promise<Out>,
): Promise<readonly Out[]> {
  const outputs: Out[] = Array.from({ length: inputs.length })
  const queues = new Map<string, number[]>()
  for (const [i, input] of inputs.entries()) {
    const place = placeOf(input)
    const queue = queues.get(place)
    if (queue) queue.push(i)
    else queues.set(place, [i])
  }
  async function inOrder(queue: readonly number[]): Promise<void> {
    for (const i of queue) outputs[i] = await work(inputs[i] as In)
  }
  await Promise.all(Array.from(queues.values(), inOrder))
  return outputs
}
