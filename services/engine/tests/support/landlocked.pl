#!/usr/bin/perl
# Replaces setpriv of util-linux 2.40 on machines with an older one: implements the --landlock-* options and --seccomp-filter, and
# leaves the other options to the installed setpriv. Works on x86-64 and arm64.
use strict;
use warnings;
use POSIX ();

my @RIGHTS = qw(execute write-file read-file read-dir remove-dir remove-file make-char make-dir make-reg make-sock
  make-fifo make-block make-sym refer truncate);
my ($CREATE_RULESET, $ADD_RULE, $RESTRICT_SELF) = (444, 445, 446);
# The number of prctl depends on the architecture.
my $PRCTL = (POSIX::uname())[4] eq 'x86_64' ? 157 : 167;
my ($PR_SET_SECCOMP, $SECCOMP_MODE_FILTER) = (22, 2);
my ($PATH_BENEATH, $O_PATH) = (1, 010000000);

sub rights {
  my $bits = 0;
  for my $name (split /,/, shift) {
    my ($at) = grep { $RIGHTS[$_] eq $name } 0 .. $#RIGHTS;
    $bits |= 1 << ($at // die "No right is called $name\n");
  }
  return $bits;
}

sub done { my ($what, $result) = @_; $result >= 0 or die "$what: $!\n"; return $result }

# First runs setpriv with its own options, then this script with the others: the filter may deny what setpriv has to do.
if (($ARGV[0] // '') ne 'restrict') {
  my (@ours, @theirs);
  while (@ARGV && $ARGV[0] =~ /^--/) {
    my $option = shift;
    my $list = $option =~ /^--(landlock|seccomp)-/ ? \@ours : \@theirs;
    push @$list, $option;
    push @$list, shift if $list == \@ours || $option eq '--pdeathsig';
  }
  exec 'setpriv', @theirs, $^X, $0, 'restrict', @ours, '--', @ARGV or die "exec: $!\n";
}
shift;
my ($handled, @rules, $filter) = (0);
while ((my $option = shift // '--') ne '--') {
  my $value = shift;
  if ($option eq '--landlock-access' && $value =~ /^fs:(.*)$/) { $handled = rights($1) }
  elsif ($option eq '--landlock-rule' && $value =~ /^path-beneath:([^:]*):(.*)$/) { push @rules, [rights($1), $2] }
  elsif ($option eq '--seccomp-filter') { open(my $file, '<:raw', $value) or die "$value: $!\n"; local $/; $filter = <$file> }
  else { die "$option $value is not known\n" }
}
my $ruleset = done('create', syscall($CREATE_RULESET, pack('Q', $handled), 8, 0));
for (@rules) {
  my ($rights, $path) = @$_;
  sysopen(my $beneath, $path, $O_PATH) or die "$path: $!\n";
  done($path, syscall($ADD_RULE, $ruleset, $PATH_BENEATH, pack('Ql', $rights, fileno $beneath), 0));
}
done('restrict', syscall($RESTRICT_SELF, $ruleset, 0));
if (defined $filter) {
  my $program = pack('S x6 P', length($filter) / 8, $filter);
  done('filter', syscall($PRCTL, $PR_SET_SECCOMP, $SECCOMP_MODE_FILTER, $program, 0, 0));
}
exec @ARGV or die "exec: $!\n";
