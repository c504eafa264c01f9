//! Mutates certificates: each mutant has one mistake in the plan.
#![allow(dead_code, reason = "each test uses a part of it")]

use cuweave_check::certificate::{Certificate, Edge, Member, NodeWork, Plan, Port, Storage};

/// A certificate with a mistake.
pub struct Mutant {
    pub kind: &'static str,
    /// The position of the mistake.
    pub at: String,
    pub certificate: Certificate,
}

/// Returns the mutants of a certificate: about `most` of each kind, spread over the plan.
pub fn all(certificate: &Certificate, most: usize) -> Vec<Mutant> {
    let mut making = MutantBuilder { certificate, most, mutants: Vec::new() };
    making.edges();
    making.ports();
    making.members();
    making.memory();
    making.frees();
    making.registers();
    making.touches();
    making.values();
    making.bodies();
    making.mutants
}

struct MutantBuilder<'c> {
    certificate: &'c Certificate,
    most: usize,
    mutants: Vec<Mutant>,
}

/// Returns at most `most` items, evenly spread.
fn spread<T>(things: Vec<T>, most: usize) -> Vec<T> {
    let step = things.len().div_ceil(most.max(1)).max(1);
    things.into_iter().step_by(step).collect()
}

impl MutantBuilder<'_> {
    fn add(&mut self, kind: &'static str, at: String, change: impl FnOnce(&mut Plan)) {
        let mut certificate = self.certificate.clone();
        change(&mut certificate.plan);
        if certificate.plan != self.certificate.plan {
            self.mutants.push(Mutant { kind, at, certificate });
        }
    }

    fn plan(&self) -> &Plan {
        &self.certificate.plan
    }

    fn edges(&mut self) {
        let count = self.plan().edges.len();
        for at in spread((0..count).collect(), 4 * self.most) {
            let Edge { from, to, port } = self.plan().edges[at];
            let nodes = &self.plan().nodes;
            let kind = match (&nodes[from].work, &nodes[to].work) {
                (NodeWork::Alloc(_), _) => "edge from an alloc left out",
                (_, NodeWork::Free(_) | NodeWork::FreeTaken(..)) => "edge to a free left out",
                (_, NodeWork::Branch(_)) | (NodeWork::Branch(_), _) => "edge of a branch left out",
                _ if port == Port::Early => "early edge left out",
                _ => "edge left out",
            };
            self.add(kind, format!("edge {from} {to}"), |plan| {
                plan.edges.remove(at);
            });
        }
        for at in spread((0..count).collect(), self.most) {
            let Edge { from, to, port } = self.plan().edges[at];
            self.add("edge turned", format!("edge {from} {to}"), |plan| {
                plan.edges[at] = Edge { from: to, to: from, port };
            });
            let body = self.plan().nodes[from].body;
            let others = (0..self.plan().nodes.len()).filter(|&node| node != from && node != to);
            let others: Vec<usize> = others.filter(|&node| self.plan().nodes[node].body == body).collect();
            for other in spread(others, 2) {
                self.add("edge moved", format!("edge {from} {to} to {other}"), |plan| {
                    plan.edges[at].to = other
                });
                self.add("edge moved", format!("edge {from} {to} from {other}"), |plan| {
                    plan.edges[at].from = other;
                });
            }
        }
        // Let an edge begin at a predecessor of its first node.
        for at in spread((0..count).collect(), self.most) {
            let Edge { from, to, .. } = self.plan().edges[at];
            let before: Vec<Edge> =
                self.plan().edges.iter().filter(|edge| edge.to == from).copied().collect();
            for before in spread(before, 2) {
                let kind = match self.plan().nodes[to].work {
                    NodeWork::Free(_) | NodeWork::FreeTaken(..) => "free earlier",
                    _ => "node earlier",
                };
                self.add(kind, format!("edge {from} {to} from {}", before.from), |plan| {
                    plan.edges[at].from = before.from;
                });
            }
        }
    }

    fn ports(&mut self) {
        let run = |node: usize| matches!(self.plan().nodes[node].work, NodeWork::Run { .. });
        let full = |at: &usize| {
            let edge = self.plan().edges[*at];
            edge.port == Port::End && run(edge.from) && run(edge.to)
        };
        let full: Vec<usize> = (0..self.plan().edges.len()).filter(full).collect();
        for at in spread(full, self.most) {
            let Edge { from, to, .. } = self.plan().edges[at];
            self.add("edge made early", format!("edge {from} {to}"), |plan| {
                plan.edges[at].port = Port::Early
            });
        }
        let waiting = (0..self.plan().nodes.len()).filter(|&node| self.plan().nodes[node].waits);
        for node in spread(waiting.collect(), self.most) {
            self.add("node does not wait", format!("node {node}"), |plan| plan.nodes[node].waits = false);
        }
    }

    /// Returns the members as pairs of node and position.
    fn positions(&self) -> Vec<(usize, usize)> {
        let nodes = self.plan().nodes.iter().enumerate();
        nodes
            .flat_map(|(at, node)| (0..members(&node.work).len()).map(move |position| (at, position)))
            .collect()
    }

    fn members(&mut self) {
        let positions = self.positions();
        let runs: Vec<usize> = (0..self.plan().nodes.len())
            .filter(|&node| matches!(self.plan().nodes[node].work, NodeWork::Run { .. }))
            .collect();
        for (node, at) in spread(positions.clone(), self.most) {
            let place = format!("member {at} of node {node}");
            self.add("member left out", place.clone(), |plan| {
                list(plan, node).remove(at);
            });
            let one = members(&self.plan().nodes[node].work)[at].clone();
            self.add("member doubled", place.clone(), |plan| list(plan, node).push(one.clone()));
            for other in spread(runs.iter().copied().filter(|&other| other != node).collect(), 3) {
                let place = format!("{place} to node {other}");
                self.add("member doubled", place.clone(), |plan| list(plan, other).push(one.clone()));
                self.add("member moved to a node", place.clone(), |plan| {
                    let one = list(plan, node).remove(at);
                    list(plan, other).push(one);
                });
                self.add("member moved to a node", format!("{place}, in front"), |plan| {
                    let one = list(plan, node).remove(at);
                    list(plan, other).insert(0, one);
                });
                self.add("member moved to a lane of a node", place, |plan| {
                    let one = list(plan, node).remove(at);
                    let to = list(plan, other);
                    let lane = 1 + to.iter().map(|one| one.lane).max().unwrap_or(0);
                    to.push(Member { lane, ..one });
                });
            }
            self.add("member moved to another lane", place.clone(), |plan| list(plan, node)[at].lane += 1);
            for (other, position) in spread(positions.clone(), 3) {
                self.add(
                    "statements swapped",
                    format!("{place} with member {position} of node {other}"),
                    |plan| {
                        let (one, two) =
                            (list(plan, node)[at].statement, list(plan, other)[position].statement);
                        list(plan, node)[at].statement = two;
                        list(plan, other)[position].statement = one;
                    },
                );
            }
        }
        let followed = |&(node, at): &(usize, usize)| at + 1 < members(&self.plan().nodes[node].work).len();
        for (node, at) in spread(positions.into_iter().filter(followed).collect(), self.most) {
            let place = format!("members {at} and {} of node {node}", at + 1);
            self.add("members swapped", place.clone(), |plan| list(plan, node).swap(at, at + 1));
            let (mine, next) = (&members(&self.plan().nodes[node].work)[at], at + 1);
            let lane = mine.lane;
            self.add("member moved to another lane", place, |plan| list(plan, node)[next].lane = lane);
        }
    }

    fn memory(&mut self) {
        let places: Vec<(usize, usize, u64)> =
            self.plan().places.iter().enumerate().filter_map(inside).collect();
        for &(memory, block, offset) in &spread(places.clone(), self.most) {
            let others = places.iter().filter(|other| other.0 != memory && other.1 == block);
            let mut offsets: Vec<u64> = spread(others.map(|other| other.2).collect(), 4);
            offsets.extend([
                0,
                offset + 4,
                offset.saturating_sub(4),
                offset + 256,
                offset.saturating_sub(256),
            ]);
            for offset in offsets {
                self.add("offset moved", format!("memory {memory} to {offset}"), |plan| {
                    plan.places[memory].at = Storage::In { block, offset };
                });
            }
            for other in spread((0..self.plan().blocks.len()).filter(|&one| one != block).collect(), 3) {
                self.add("place in another block", format!("memory {memory} to block {other}"), |plan| {
                    plan.places[memory].at = Storage::In { block: other, offset: 0 };
                });
            }
            self.add("place left out", format!("memory {memory}"), |plan| {
                plan.places[memory].at = Storage::Unused
            });
            let bytes = self.certificate.source.memories[memory].bytes;
            self.add("block shrunk", format!("block {block} to memory {memory}"), |plan| {
                plan.blocks[block].bytes = (offset + bytes).saturating_sub(4);
            });
        }
        for block in spread((0..self.plan().blocks.len()).collect(), self.most) {
            for other in spread((0..self.plan().blocks.len()).filter(|&one| one != block).collect(), 2) {
                let address = self.plan().blocks[other].address;
                self.add("block at the address of another", format!("block {block} at {other}"), |plan| {
                    plan.blocks[block].address = address;
                });
            }
        }
    }

    fn frees(&mut self) {
        let nodes = self.plan().nodes.iter().enumerate();
        let of = |(at, node): (usize, &cuweave_check::certificate::Node)| match node.work {
            NodeWork::Free(_) | NodeWork::FreeTaken(..) => Some((at, true)),
            NodeWork::Alloc(_) => Some((at, false)),
            _ => None,
        };
        for (node, is_free) in spread(nodes.filter_map(of).collect(), 2 * self.most) {
            let [out, twice] = match is_free {
                true => ["free left out", "free doubled"],
                false => ["alloc left out", "alloc doubled"],
            };
            let nothing = || NodeWork::Run { members: Vec::new(), forwards: Vec::new() };
            self.add(out, format!("node {node}"), |plan| plan.nodes[node].work = nothing());
            self.add(twice, format!("node {node}"), |plan| {
                let copy = plan.nodes[node].clone();
                plan.nodes.push(copy);
                let new = plan.nodes.len() - 1;
                let moved = |&edge: &Edge| match (edge.from == node, edge.to == node) {
                    (true, _) => Some(Edge { from: new, ..edge }),
                    (_, true) => Some(Edge { to: new, ..edge }),
                    _ => None,
                };
                let more: Vec<Edge> = plan.edges.iter().filter_map(moved).collect();
                plan.edges.extend(more);
            });
            self.add("alloc or free of another block", format!("node {node}"), |plan| {
                let blocks = plan.blocks.len();
                match &mut plan.nodes[node].work {
                    NodeWork::Alloc(block) | NodeWork::Free(block) if blocks > 1 => {
                        *block = (*block + 1) % blocks
                    }
                    NodeWork::FreeTaken(_, address) => *address += 4,
                    _ => {}
                }
            });
        }
    }

    fn registers(&mut self) {
        for node in 0..self.plan().nodes.len() {
            let NodeWork::Run { members, forwards, .. } = &self.plan().nodes[node].work else { continue };
            let others: Vec<usize> = members.iter().map(|member| member.statement).collect();
            for at in spread((0..forwards.len()).collect(), self.most) {
                let place = format!("forward {at} of node {node}");
                self.add("forward left out", place.clone(), |plan| {
                    let NodeWork::Run { forwards, .. } = &mut plan.nodes[node].work else { return };
                    forwards.remove(at);
                });
                for &other in &spread(others.clone(), 4) {
                    self.add("forward of another writer", format!("{place} from {other}"), |plan| {
                        let NodeWork::Run { forwards, .. } = &mut plan.nodes[node].work else { return };
                        forwards[at].writer = other;
                    });
                    self.add("forward to another reader", format!("{place} to {other}"), |plan| {
                        let NodeWork::Run { forwards, .. } = &mut plan.nodes[node].work else { return };
                        forwards[at].reader = other;
                    });
                }
            }
        }
        self.more_forwards();
        let written = self.positions().into_iter().flat_map(|(node, at)| {
            let statement = members(&self.plan().nodes[node].work)[at].statement;
            let accesses = self.certificate.source.statements[statement].accesses.iter().enumerate();
            let written = accesses.filter(|(_, access)| access.effect.writes());
            written.map(move |(access, _)| (node, at, access)).collect::<Vec<_>>()
        });
        for (node, at, access) in spread(written.collect(), 2 * self.most) {
            let place = format!("access {access} of member {at} of node {node}");
            self.add("store left out, or not", place, |plan| {
                let elided = &mut list(plan, node)[at].elided;
                match elided.iter().position(|&one| one == access) {
                    Some(there) => drop(elided.remove(there)),
                    None => elided.push(access),
                }
            });
        }
        let elided = self.plan().places.iter().enumerate();
        let elided = elided.filter(|(_, place)| matches!(place.at, Storage::Registers(_))).map(|(at, _)| at);
        for memory in spread(elided.collect(), self.most) {
            let nodes = self.plan().nodes.len();
            self.add("registers of another node", format!("memory {memory}"), |plan| {
                if let Storage::Registers(node) = &mut plan.places[memory].at {
                    *node = (*node + 1) % nodes;
                }
            });
        }
        let used: Vec<(usize, usize, u64)> =
            self.plan().places.iter().enumerate().filter_map(inside).collect();
        for (memory, ..) in spread(used, self.most) {
            let uses = |member: &Member| {
                let accesses = &self.certificate.source.statements[member.statement].accesses;
                accesses.iter().any(|access| access.memory == memory)
            };
            let node = self.plan().nodes.iter().position(|node| members(&node.work).iter().any(uses));
            if let Some(node) = node {
                self.add("memory in registers", format!("memory {memory}"), |plan| {
                    plan.places[memory].at = Storage::Registers(node);
                });
            }
        }
    }

    /// Adds reads from memory to the forwards.
    fn more_forwards(&mut self) {
        let mut pairs = Vec::new();
        for (node, at) in self.positions().into_iter().filter(|&(_, at)| at > 0) {
            let all = members(&self.plan().nodes[node].work);
            let accesses = &self.certificate.source.statements[all[at].statement].accesses;
            for (access, _) in accesses.iter().enumerate().filter(|(_, access)| access.effect.reads()) {
                for earlier in 0..at {
                    pairs.push((node, all[at].statement, all[earlier].statement, access));
                }
            }
        }
        for (node, reader, writer, access) in spread(pairs, 2 * self.most) {
            let place = format!("access {access} to {reader} from {writer}, node {node}");
            self.add("forward added", place, |plan| {
                let NodeWork::Run { forwards, .. } = &mut plan.nodes[node].work else { return };
                let one = cuweave_check::certificate::ForwardedRead { access, reader, writer };
                if !forwards.contains(&one) {
                    forwards.push(one);
                }
            });
        }
    }

    fn touches(&mut self) {
        let known = self.positions().into_iter().flat_map(|(node, at)| {
            let touches = members(&self.plan().nodes[node].work)[at].touches.len();
            (0..touches).map(move |access| (node, at, access))
        });
        for (node, at, access) in spread(known.collect(), 2 * self.most) {
            let place = format!("access {access} of member {at} of node {node}");
            let mut change = |kind: &'static str, change: &dyn Fn(&mut cuweave_check::certificate::Span)| {
                self.add(kind, place.clone(), |plan| {
                    let touches = &mut list(plan, node)[at].touches[access];
                    touches.reads.iter_mut().chain(&mut touches.writes).flatten().for_each(change);
                });
            };
            change("stride of blocks changed", &|span| span.axes[0].stride += 4);
            change("stride of blocks changed", &|span| span.axes[0].stride = 0);
            change("stride of blocks changed", &|span| span.axes[0].stride *= -1);
            change("start of blocks changed", &|span| span.start += 4);
            change("bytes of blocks changed", &|span| span.bytes += 4);
            self.add("touches left out", place.clone(), |plan| list(plan, node)[at].touches.clear());
            self.add("touches unknown", place, |plan| {
                let touches = &mut list(plan, node)[at].touches[access];
                (touches.reads, touches.writes) = (None, None);
            });
        }
    }

    fn values(&mut self) {
        let positions = self.positions();
        let given = positions.iter().flat_map(|&(node, at)| {
            let addresses = members(&self.plan().nodes[node].work)[at].addresses.len();
            (0..addresses).map(move |access| (node, at, access))
        });
        for (node, at, access) in spread(given.collect(), 2 * self.most) {
            let place = format!("address {access} of member {at} of node {node}");
            self.add("address changed", place.clone(), |plan| list(plan, node)[at].addresses[access] += 4);
            let next = members(&self.plan().nodes[node].work)[at].addresses.iter().cycle().nth(access + 1);
            let next = *next.unwrap_or(&0);
            self.add("address of another argument", place, |plan| {
                list(plan, node)[at].addresses[access] = next;
            });
        }
        let numbers = positions.iter().flat_map(|&(node, at)| {
            let numbers = members(&self.plan().nodes[node].work)[at].numbers.len();
            (0..numbers).map(move |number| (node, at, number))
        });
        for (node, at, number) in spread(numbers.collect(), 2 * self.most) {
            let place = format!("number {number} of member {at} of node {node}");
            self.add("number changed", place, |plan| list(plan, node)[at].numbers[number] += 1);
        }
        let devices = self.plan().places.iter().flat_map(|place| place.devices.iter().copied());
        let most = devices.max();
        for node in spread((0..self.plan().nodes.len()).filter(|_| most.is_some()).collect(), 2 * self.most) {
            self.add("device changed", format!("node {node}"), |plan| {
                plan.nodes[node].device = (plan.nodes[node].device + 1) % (most.unwrap_or(0) + 1);
            });
        }
    }

    fn bodies(&mut self) {
        let bodies = self.certificate.source.bodies.len();
        if bodies < 2 {
            return;
        }
        for node in spread((0..self.plan().nodes.len()).collect(), 2 * self.most) {
            self.add("node moved to another body", format!("node {node}"), |plan| {
                plan.nodes[node].body = (plan.nodes[node].body + 1) % bodies;
            });
            self.add("node and edges moved to another body", format!("node {node}"), |plan| {
                plan.nodes[node].body = (plan.nodes[node].body + 1) % bodies;
                plan.edges.retain(|edge| edge.from != node && edge.to != node);
            });
        }
        let branches = (0..self.plan().nodes.len())
            .filter(|&node| matches!(self.plan().nodes[node].work, NodeWork::Branch(_)));
        let branches: Vec<usize> = branches.collect();
        for &node in &branches {
            self.add("body left out", format!("node {node}"), |plan| {
                let NodeWork::Branch(runs) = &mut plan.nodes[node].work else { return };
                runs.pop();
            });
            self.add("body doubled", format!("node {node}"), |plan| {
                let NodeWork::Branch(runs) = &mut plan.nodes[node].work else { return };
                runs.extend(runs.first().copied());
            });
            for &other in branches.iter().filter(|&&other| other != node) {
                self.add("bodies swapped", format!("nodes {node} and {other}"), |plan| {
                    let one = plan.nodes[node].work.clone();
                    plan.nodes[node].work = std::mem::replace(&mut plan.nodes[other].work, one);
                });
            }
        }
    }
}

fn inside(
    (memory, place): (usize, &cuweave_check::certificate::MemoryPlacement),
) -> Option<(usize, usize, u64)> {
    match place.at {
        Storage::In { block, offset } => Some((memory, block, offset)),
        _ => None,
    }
}

fn members(work: &NodeWork) -> &[Member] {
    match work {
        NodeWork::Run { members, .. } => members,
        _ => &[],
    }
}

fn list(plan: &mut Plan, node: usize) -> &mut Vec<Member> {
    match &mut plan.nodes[node].work {
        NodeWork::Run { members, .. } => members,
        _ => unreachable!("positions are those of members"),
    }
}
