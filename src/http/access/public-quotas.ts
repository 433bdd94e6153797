// Whose quota a request without a key counts against: that of its client's network, or of a larger one that the operator listed.
import { BlockList, isIP } from 'node:net';
import type { PublicReading } from '../../domain/policy.ts';
import type { PublicQuota } from '../../usecases/access.ts';
import { clientNetwork, plainAddress } from './client-network.ts';

/** Finds the quota of a client's address. Of the networks that are listed, the smallest with the address counts. */
export function publicQuotas({ readsPerHour, networks }: PublicReading): (address: string) => PublicQuota {
  const shared = networks
    .toSorted((one, other) => other.bits - one.bits)
    .map((network) => {
      const { address, bits } = network;
      const list = new BlockList();
      list.addSubnet(address, bits, familyOf(address));
      return { list, quota: { network: `${address}/${bits}`, readsPerHour: network.readsPerHour } };
    });
  return (address) => {
    const plain = plainAddress(address);
    const found =
      isIP(plain) === 0 ? undefined : shared.find(({ list }) => list.check(plain, familyOf(plain)));
    return found?.quota ?? { network: clientNetwork(address), readsPerHour };
  };
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}
