-- needs: bob/thread.sql, positions/state.sql
-- Hexsides with something on them in a line of sight of bob (Band of Brothers), and hedgerows: 44.0.
--
-- What stands on a side that is met at its end counts if the thread goes from one of its hexes
-- into the other there. Between levels a hedgerow blocks where woods in each of its two hexes
-- would (44.0).

drop type if exists bob.hexside cascade;
create type bob.hexside as (
  n integer,
  mark numeric,
  kind text,
  along boolean,
  beside_end boolean,
  level integer,
  label text,
  woods_hide boolean
);

comment on type bob.hexside is
'A hexside that a thread crosses or runs along, and what stands on it.';
comment on column bob.hexside.beside_end is 'It is a side of an end''s own hex';
comment on column bob.hexside.level is 'Of its higher hex';
comment on column bob.hexside.woods_hide is 'Woods in each of its hexes would hide the ends';

create or replace function bob._hexsides(state positions.state, thread bob.thread)
returns setof bob.hexside
language sql stable parallel safe rows 2
as $$
  select
    line.n::integer,
    bob._mark(line.enter, line.den),
    hexside.kind,
    line.kind = 'spine',
    line.of_start or line.of_target,
    greatest(bob._level(one.terrain, one.level), bob._level(two.terrain, two.level)),
    positions.side_label(one.label, two.label),
    coalesce(first.hides, second.hides) is not null
    and coalesce(second.hides, first.hides) is not null
    and (one.q is null or first.hides is not null)
    and (two.q is null or second.hides is not null)
  from lattice.line(thread.q, thread.r, thread.to_q, thread.to_r) as line
  inner join public.hexside
    on hexside.map_id = state.map_id
      and hexside.x = line.x
      and hexside.y = line.y
  left join public.hex as one
    on one.map_id = state.map_id and one.q = line.q1 and one.r = line.r1
  left join public.hex as two
    on two.map_id = state.map_id and two.q = line.q2 and two.r = line.r2
  cross join lateral (
    select
      bob._hides(
        thread,
        bob._level(one.terrain, one.level) + 1,
        lattice.distance(one.q, one.r, thread.high_q, thread.high_r),
        lattice.distance(one.q, one.r, thread.low_q, thread.low_r)
      ) as hides
  ) as first
  cross join lateral (
    select
      bob._hides(
        thread,
        bob._level(two.terrain, two.level) + 1,
        lattice.distance(two.q, two.r, thread.high_q, thread.high_r),
        lattice.distance(two.q, two.r, thread.low_q, thread.low_r)
      ) as hides
  ) as second
  where (line.kind = 'spine' or (line.kind in ('side', 'end') and line.crossed))
    and (hexside.kind <> 'roadblock' or not bob._is_cleared(state, hexside.x, hexside.y))
$$;

comment on function bob._hexsides(positions.state, bob.thread) is
'The hexsides with something on them that a thread crosses or runs along.';

create or replace function bob._hedgerow_steps(hexsides bob.hexside[])
returns setof bob.obstacle
language sql immutable parallel safe rows 1
as $$
  select
    hedgerow.mark,
    '44.0',
    hedgerow.label,
    case when hedgerow.woods_hide and not hedgerow.beside_end then 'blocks' else 'passes' end,
    case
      when hedgerow.beside_end then 'an end is next to this hedgerow'
      when hedgerow.woods_hide and hedgerow.along then 'the thread runs along this hedgerow'
      when hedgerow.woods_hide then 'a hedgerow that is next to neither end'
      else 'woods on both sides of this hedgerow would be seen over'
    end,
    null,
    0
  from unnest(hexsides) as hedgerow
  where hedgerow.kind = 'hedgerow'
$$;

comment on function bob._hedgerow_steps(bob.hexside[]) is
'Hedgerows that a thread meets (44.0).';
