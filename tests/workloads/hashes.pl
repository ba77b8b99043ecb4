# A web server's log: made, taken apart by regular expressions, counted in hashes, sorted, printed.
# "perl hashes.pl [LINES [SEED]]"; the output depends on nothing else.
use strict;
use warnings;

my $lines = shift // 200000;
my $seed  = shift // 7;

sub random {
    my ($n) = @_;
    $seed = ($seed * 1103515245 + 12345) % 2147483648;
    return ($seed >> 8) % $n;
}

my @verbs  = qw(GET GET GET POST PUT DELETE HEAD);
my @status = (200, 200, 200, 200, 301, 304, 404, 500);
my @pages  = map { "/part" . $_ % 7 . "/page" . $_ * 13 % 101 } 0 .. 60;

sub make_line {
    my ($i) = @_;
    return sprintf '10.%d.%d.%d - - [%02d/Oct/2023:%02d:%02d:%02d] "%s %s?id=%d HTTP/1.1" %d %d "%s"',
        random(4), random(8), random(250), 1 + $i % 28, $i % 24, $i % 60, random(60), $verbs[ random(scalar @verbs) ],
        $pages[ random(scalar @pages) ], random(5000), $status[ random(scalar @status) ], random(90000),
        random(3) ? "Mozilla/5.0 (X11; Linux)" : "robot/1.$i";
}

my (%by_host, %by_page, %by_status, %seen);
my $bytes = 0;

sub note {
    my ($line) = @_;
    return unless $line =~ m{^(\d+\.\d+\.\d+\.\d+) \S+ \S+ \[([^\]]+)\] "(\w+) ([^? ]+)(?:\?id=(\d+))? [^"]+" (\d{3}) (\d+) "([^"]*)"$};
    my ($host, $when, $verb, $page, $id, $code, $size, $agent) = ($1, $2, $3, $4, $5, $6, $7, $8);
    return if $agent =~ /robot/i;
    $by_host{$host}++;
    $by_page{$page}{$verb} += $size;
    $by_status{$code}++;
    my ($day) = split m{/}, $when;
    $seen{ join ':', $day, $id // 0 } //= $page;
    $bytes += $size;
}

note(make_line($_)) for 1 .. $lines;

sub total {
    my ($page) = @_;
    my $sum = 0;
    $sum += $_ for values %{ $by_page{$page} };
    return $sum;
}

# Sorts by merging, by recursion.
sub merge_sort {
    my ($compare, @list) = @_;
    return @list if @list < 2;
    my $middle = int(@list / 2);
    my @left   = merge_sort($compare, @list[ 0 .. $middle - 1 ]);
    my @right  = merge_sort($compare, @list[ $middle .. $#list ]);
    my @merged;
    while (@left && @right) {
        push @merged, $compare->($left[0], $right[0]) <= 0 ? shift @left : shift @right;
    }
    return (@merged, @left, @right);
}

for my $page ((sort { total($b) <=> total($a) || $a cmp $b } keys %by_page)[ 0 .. 4 ]) {
    printf "%-16s %9d %s\n", $page, total($page),
        join ' ', map { "$_=$by_page{$page}{$_}" } sort keys %{ $by_page{$page} };
}
my @hosts = merge_sort(sub { $by_host{ $_[1] } <=> $by_host{ $_[0] } || $_[0] cmp $_[1] }, keys %by_host);
printf "%s %d\n", $_, $by_host{$_} for @hosts[ 0 .. 2 ];
printf "%s: %d\n", $_, $by_status{$_} for sort { $a <=> $b } keys %by_status;

(my $text = join ' ', map { $seen{$_} } sort keys %seen) =~ s{/page(\d+)}{ "<" . ($1 + 1) . ">" }ge;
$text =~ tr/0-9/a-j/;
printf "%d hosts, %d pages seen, %d bytes, %d characters of text\n", scalar @hosts, scalar keys %seen, $bytes,
    length $text;
