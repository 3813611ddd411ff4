//! Which nodes belong to which part: parts of about the same load, between which packets travel for long and are few.
//!
//! Nodes that must stay together form groups, and so do hosts with the one router that they are attached to. Groups are
//! collected part by part, each time the one with most packets to and from those that are there (greedy graph growing,
//! Karypis and Kumar 1998); then groups at the borders change sides as long as that helps (Fiduccia and Mattheyses 1982,
//! without their buckets). The result of a run does not depend on any of this.

use crate::fitting;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Two nodes with what travels between them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tie {
    pub nodes: [usize; 2],
    /// Packets both ways.
    pub packets: f64,
    /// Nanoseconds for which these are on their way at least; nodes without that stay together.
    pub journey_ns: u64,
}

/// A network as the division sees it.
#[derive(Debug)]
pub(super) struct Graph {
    /// Work of each node.
    pub work: Vec<f64>,
    pub ties: Vec<Tie>,
    /// The router of each host that has no other neighbour, by node.
    pub home: Vec<Option<usize>>,
}

/// Work that the fullest part may have beyond the mean, before a shorter journey or scattered hosts are worth it.
const MOST_IMBALANCE: f64 = 1.2;
/// Lengths of journeys that are tried.
const MOST_LENGTHS: usize = 12;

impl Graph {
    /// The part of each node, numbered from 0; fewer than `parts` where there are not enough groups.
    pub fn divide(&self, parts: usize) -> Vec<u16> {
        let mut lengths: Vec<u64> = self.ties.iter().map(|tie| tie.journey_ns.max(1)).collect();
        lengths.sort_unstable();
        lengths.dedup();
        let step = lengths.len().div_ceil(MOST_LENGTHS).max(1);
        let lengths: Vec<u64> = lengths.iter().rev().step_by(step).copied().chain([1]).collect();
        let mut best: Option<(f64, Vec<u16>)> = None;
        for at_home in [true, false] {
            for least_ns in &lengths {
                let groups = self.groups(at_home, *least_ns);
                let of_groups = groups.divide(parts);
                let imbalance = groups.imbalance(&of_groups, parts);
                let known = best.as_ref().map_or(f64::INFINITY, |(known, _)| *known);
                if imbalance < known * 0.98 {
                    let of_node = |group: &usize| of_groups[*group];
                    best = Some((imbalance, groups.of_nodes.iter().map(of_node).collect()));
                }
                if imbalance <= MOST_IMBALANCE {
                    return best.map(|(_, parts)| parts).unwrap_or_default();
                }
            }
        }
        best.map(|(_, parts)| parts).unwrap_or_default()
    }

    /// Puts nodes together whose ties are shorter, and hosts with their routers.
    fn groups(&self, at_home: bool, least_ns: u64) -> Groups {
        let mut sets = Sets((0..self.work.len()).collect());
        for tie in self.ties.iter().filter(|tie| tie.journey_ns < least_ns) {
            sets.unite(tie.nodes);
        }
        if at_home {
            for (host, home) in self.home.iter().enumerate() {
                if let Some(home) = home {
                    sets.unite([host, *home]);
                }
            }
        }
        let mut numbers = vec![usize::MAX; self.work.len()];
        let mut work = Vec::new();
        let mut of_nodes = Vec::with_capacity(self.work.len());
        for node in 0..self.work.len() {
            let number = &mut numbers[sets.find(node)];
            if *number == usize::MAX {
                *number = work.len();
                work.push(0.0);
            }
            work[*number] += self.work[node];
            of_nodes.push(*number);
        }
        let mut ties: Vec<(usize, usize, f64)> = Vec::with_capacity(2 * self.ties.len());
        for tie in &self.ties {
            let [a, b] = tie.nodes.map(|node| of_nodes[node]);
            if a != b {
                ties.extend([(a, b, tie.packets), (b, a, tie.packets)]);
            }
        }
        let mut near: Vec<Vec<(usize, f64)>> = vec![Vec::new(); work.len()];
        for (a, b, packets) in ties {
            near[a].push((b, packets));
        }
        Groups { work, near, of_nodes }
    }
}

/// Sets of nodes (union-find with halved paths; the least member stands for all).
struct Sets(Vec<usize>);

impl Sets {
    fn find(&mut self, mut node: usize) -> usize {
        while self.0[node] != node {
            self.0[node] = self.0[self.0[node]];
            node = self.0[node];
        }
        node
    }

    fn unite(&mut self, [a, b]: [usize; 2]) {
        let (a, b) = (self.find(a), self.find(b));
        let (low, high) = (a.min(b), a.max(b));
        self.0[high] = low;
    }
}

/// Nodes that stay together.
struct Groups {
    work: Vec<f64>,
    /// Neighbours of each group, and the packets between.
    near: Vec<Vec<(usize, f64)>>,
    of_nodes: Vec<usize>,
}

const NOBODY: u16 = u16::MAX;

impl Groups {
    fn divide(&self, parts: usize) -> Vec<u16> {
        let mut of_groups = vec![NOBODY; self.work.len()];
        let mut left: f64 = self.work.iter().sum();
        let count = parts.min(self.work.len());
        for part in 0..count {
            let share = left / (count - part) as f64;
            left -= self.grow(fitting(part), share, count - part - 1, &mut of_groups);
        }
        for _ in 0..8 {
            if !self.refine(count, &mut of_groups) {
                break;
            }
        }
        of_groups
    }

    /// Collects groups for a part until it has its share of the work; answers how much that is. The last part gets all
    /// that is left, and one group at least is left for each of the `later` parts.
    fn grow(&self, part: u16, share: f64, later: usize, of_groups: &mut [u16]) -> f64 {
        let mut ties = vec![0.0; self.work.len()];
        let key = |group: usize, ties: f64| {
            // The bits of numbers that are not negative are in their order.
            (ties.to_bits(), self.work[group].to_bits(), Reverse(group))
        };
        let free = (0..self.work.len()).filter(|group| of_groups[*group] == NOBODY);
        let mut candidates: BinaryHeap<_> = free.map(|group| key(group, 0.0)).collect();
        let most = candidates.len() - later;
        let (mut count, mut work) = (0, 0.0);
        while count < most
            && (later == 0 || work < share)
            && let Some((bits, _, Reverse(next))) = candidates.pop()
        {
            if of_groups[next] != NOBODY || bits != f64::to_bits(ties[next]) {
                continue;
            }
            let over = work + self.work[next] - share;
            if later > 0 && work > 0.0 && over > share - work {
                break;
            }
            of_groups[next] = part;
            count += 1;
            work += self.work[next];
            for (other, packets) in &self.near[next] {
                ties[*other] += packets;
                if of_groups[*other] == NOBODY {
                    candidates.push(key(*other, ties[*other]));
                }
            }
        }
        work
    }

    fn loads(&self, of_groups: &[u16], parts: usize) -> Vec<f64> {
        let mut loads = vec![0.0; parts];
        for (part, work) in of_groups.iter().zip(&self.work) {
            loads[usize::from(*part)] += work;
        }
        loads
    }

    /// The work of the fullest part over the mean.
    fn imbalance(&self, of_groups: &[u16], parts: usize) -> f64 {
        let loads = self.loads(of_groups, parts);
        let sum: f64 = loads.iter().sum();
        loads.iter().fold(0.0, |most: f64, load| most.max(*load)) * parts as f64 / sum.max(1e-300)
    }

    /// Moves groups to other parts where that takes packets from the border, or work from a part that has too much.
    /// Whether any was moved.
    fn refine(&self, parts: usize, of_groups: &mut [u16]) -> bool {
        let mut loads = self.loads(of_groups, parts);
        let mut counts = vec![0usize; parts];
        of_groups.iter().for_each(|part| counts[usize::from(*part)] += 1);
        let mean = loads.iter().sum::<f64>() / parts as f64;
        let mut moved = false;
        let mut ties = vec![0.0; parts];
        for group in 0..self.work.len() {
            let from = usize::from(of_groups[group]);
            if counts[from] == 1 {
                continue;
            }
            ties.fill(0.0);
            for (other, packets) in &self.near[group] {
                ties[usize::from(of_groups[*other])] += packets;
            }
            let work = self.work[group];
            let target = (0..parts).filter(|to| *to != from).max_by(|a, b| {
                let key = |to: usize| ties[to] - loads[to] * 1e-6;
                key(*a).total_cmp(&key(*b)).then(b.cmp(a))
            });
            let Some(to) = target else { continue };
            let (gain, after) = (ties[to] - ties[from], loads[to] + work);
            let lighter = after < loads[from];
            let helps_cut = gain > 0.0 && (after <= 1.03 * mean || lighter);
            let helps_balance = lighter && loads[from] > 1.03 * mean;
            if helps_cut || helps_balance {
                of_groups[group] = fitting(to);
                loads[from] -= work;
                loads[to] += work;
                counts[from] -= 1;
                counts[to] += 1;
                moved = true;
            }
        }
        moved
    }
}
