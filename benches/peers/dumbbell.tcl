# The dumbbell of benches/workloads.py for ns-2: n NewReno flows of 10 Mb/s each. Prints the data packets sent.
# Usage: ns dumbbell.tcl FLOWS SECONDS

set n [lindex $argv 0]
set end [lindex $argv 1]

set ns [new Simulator]
$ns use-scheduler Heap
remove-all-packet-headers
add-packet-header IP TCP Flags

Agent/TCP set packetSize_ 1460
Agent/TCP set windowInit_ 10
Agent/TCP set window_ 100000
Agent/TCP set minrto_ 0.25
Agent/TCP set tcpTick_ 0.001
Agent/TCP set singledup_ 0

# A limit of ns-2 holds one packet less than it says.
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right [expr 10 * $n]Mb 10ms DropTail
$ns queue-limit $left $right [expr 16 * $n + 1]
$ns queue-limit $right $left 100000

for {set i 0} {$i < $n} {incr i} {
    set source [$ns node]
    set target [$ns node]
    $ns duplex-link $source $left 100Mb [expr 1 + $i % 10]ms DropTail
    $ns duplex-link $right $target 100Mb 1ms DropTail
    foreach {a b} [list $source $left $left $source $right $target $target $right] {
        $ns queue-limit $a $b 1000
    }
    set tcp($i) [new Agent/TCP/Newreno]
    $tcp($i) set ssthresh_ 40
    set sink [new Agent/TCPSink]
    $ns attach-agent $source $tcp($i)
    $ns attach-agent $target $sink
    $ns connect $tcp($i) $sink
    set application [new Application/FTP]
    $application attach-agent $tcp($i)
    $ns at [expr 0.04 * $i / $n] "$application start"
}

proc finish {} {
    global tcp n
    set sent 0
    for {set i 0} {$i < $n} {incr i} {
        incr sent [$tcp($i) set ndatapack_]
    }
    puts $sent
    exit 0
}

$ns at $end "finish"
$ns run
